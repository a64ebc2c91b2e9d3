// Pixels in, pixels out: the library's front door for images that are in memory already.
//
//   Runner runner({.device = "cpu"});
//   const RunResult result = runner.run(image.untyped_view(), "gray,hist,contrast,smooth");
//   // result.pixels, result.report
//
// What it gives are the pixels that the program writes to a file for the same stages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/plane.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"
#include "pipeline/time_rows.h"

namespace imgpipe {

struct RunnerSettings {
  // As --device has it, for one device: auto, cpu, reference, cuda, cuda:N. `auto` decides for each image, by
  // what is usual (default_cost_model()): what `imgpipe devices --calibrate` measured is the program's.
  std::string device = "auto";
  int threads = 0;                              // as --threads; 0: as many as this process may use
  bool fuse = false;                            // as --fuse
  std::int64_t max_pixels = kDefaultMaxPixels;  // that a step may make of an image
};

struct RunReport {
  Shape input, output;
  std::string implementation;         // "cpu", "cuda", "reference"
  std::string processor;              // what did the work, by name
  std::string why;                    // why auto took it; empty where the device was named
  std::vector<std::string> steps;     // labels, as the program's report has them
  std::vector<TimeRow> rows;          // reading of the pixels, transfers, steps
  std::vector<ContrastRange> ranges;  // of contrast
  std::vector<std::string> notes;     // what the plan left out, and why
  double wall_ms = 0;                 // of the whole call of run()
};

struct RunResult {
  // Keeps `pixels` and `results`, and may outlive the runner. A CUDA device's is pinned memory, which keeps
  // the device's engine with its threads too: a forked process must not destroy it.
  std::shared_ptr<const void> memory;
  ConstHostView pixels;  // interleaved, of shape report.output, rows without padding
  // The same of each list of a branched plan, in their order; `pixels` is the last.
  std::vector<ConstHostView> results;
  RunReport report;
};

// Does one image after the other; engines are made with the first image that needs them and kept. One thread
// at a time uses a runner; several runners are independent of each other.
class Runner {
 public:
  // Throws Error(usage) for a device that is none, or several, and for too many or negative threads. Touches
  // no device.
  explicit Runner(RunnerSettings settings = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The steps of `stages` (pipeline/stage_list.h has the grammar) for an image of this shape. Throws
  // Error(usage) or Error(input), as parse_stages() and make_plan() do, and Error(usage) for no image.
  [[nodiscard]] Plan plan(const Shape& input, std::string_view stages = kDefaultStages) const;

  // The steps of several lists that all begin with the same image, for one result each: run() gives all of
  // them. Steps that lists begin with in common run once; nothing is fused. The message of an error names
  // its list.
  [[nodiscard]] Plan branched_plan(const Shape& input, const std::vector<std::string_view>& lists) const;

  // Runs a plan for image.shape() over `image`, which is only read: 1 to 4 interleaved channels (grey,
  // grey+alpha, RGB, RGBA), 8 or 16 bits a sample, rows of any stride. Throws Error(usage) where the plan is
  // another image's, or a CUDA device that was named has no function for a step; Error(memory);
  // Error(device).
  [[nodiscard]] RunResult run(ConstHostView image, Plan plan) {
    return run(image, std::move(plan), Timeline());
  }
  [[nodiscard]] RunResult run(ConstHostView image, std::string_view stages = kDefaultStages) {
    Timeline timeline;
    return run(image, plan(image.shape(), stages), std::move(timeline));
  }

 private:
  [[nodiscard]] RunResult run(ConstHostView image, Plan plan, Timeline timeline);
  [[nodiscard]] DeviceChoice device_for(const Plan& plan);
  [[nodiscard]] std::shared_ptr<Engine> engine_of(const DeviceChoice& choice);

  RunnerSettings settings_;
  DeviceChoice asked_;
  std::optional<CudaDevices> found_;  // with auto
  std::map<Backend, std::shared_ptr<Engine>> engines_;
};

}  // namespace imgpipe
