// The library's main interface for images in memory.
//
//   Runner runner({.device = "cpu"});
//   const RunResult result = runner.run(image.untyped_view(), "gray,hist,contrast,smooth");
//   // result.pixels, result.report
//
// The result's pixels equal those that the program writes to a file for the same stages.
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
  // As for --device, but at most one device: auto, cpu, reference, cuda, cuda:N. `auto` chooses per image by
  // default_cost_model(); only the program uses the measurements of `imgpipe devices --calibrate`.
  std::string device = "auto";
  int threads = 0;                              // as --threads; 0: as many as this process may use
  bool fuse = false;                            // as --fuse
  std::int64_t max_pixels = kDefaultMaxPixels;  // limit of the pixels that a step makes
};

struct RunReport {
  Shape input, output;
  std::optional<TensorType> tensor{};  // if the result is one; `output` is then its frame()
  std::string implementation;          // "cpu", "cuda", "reference"
  std::string processor;               // the name of the processor that did the work
  std::string why;                     // the reason for auto's choice; empty if the device was named
  std::vector<std::string> steps;      // labels, as in the program's report
  std::vector<TimeRow> rows;           // reading of the pixels, transfers, steps
  std::vector<ContrastRange> ranges;   // of the contrast steps
  std::vector<std::string> notes;      // steps left out and why; warnings about devices
  double wall_ms = 0;                  // of the whole call of run()
};

struct RunResult {
  // Owns the memory of `pixels` and `results`, and may outlive the runner. With a CUDA device this is pinned
  // memory, which also keeps the engine and its threads alive: a forked process must not destroy it.
  std::shared_ptr<const void> memory;
  ConstHostView pixels;  // interleaved, of shape report.output, rows without padding
  // The same for each list of a branched plan, in order; the last is `pixels`.
  std::vector<ConstHostView> results;
  RunReport report;
};

// Processes one image at a time. Makes each engine for the first image that needs it, and keeps it. Not
// thread-safe, but runners are independent of each other.
class Runner {
 public:
  // Throws Error(usage) for an unknown device, several devices, and a number of threads out of range.
  // Accesses no device.
  explicit Runner(RunnerSettings settings = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Plans `stages` (grammar: pipeline/stage_list.h) for an image of this shape. Throws as parse_stages() and
  // make_plan() do, and Error(usage) for a shape without pixels or with more than 4 channels.
  [[nodiscard]] Plan plan(const Shape& input, std::string_view stages = kDefaultStages) const;

  // Plans one result for each list of stages; all lists begin with the same image. Steps that lists have in
  // common at the beginning run once; steps are not fused. Throws as plan() does; messages name the list.
  [[nodiscard]] Plan branched_plan(const Shape& input, const std::vector<std::string_view>& lists) const;

  // Runs a plan for image.shape() on `image`: 1 to 4 interleaved channels (grey, grey+alpha, RGB, RGBA), 8
  // or 16 bits per sample, rows of any stride. Throws Error(usage) if the plan is for another shape, or if a
  // named CUDA device does not support a step; Error(memory); Error(device).
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
  std::optional<CudaDevices> found_;  // listed by `auto`
  std::map<Backend, std::shared_ptr<Engine>> engines_;
};

}  // namespace imgpipe
