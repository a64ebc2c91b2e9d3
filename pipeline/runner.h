// The library's main interface for images in memory.
//
//   Runner runner({.device = "cpu"});
//   const RunResult result = runner.run(image.untyped_view(), "gray,hist,contrast,smooth");
//   // result.pixels, result.report
//
// A loop over images makes its plan and the memory of the result once; run() then allocates no images:
//
//   const Plan plan = runner.plan(shape, "resize:224:224");
//   Image out(plan.output);
//   for (const Image& image : images) runner.run(image.untyped_view(), plan, out.untyped_view());
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
  // Limit of the device memory that a CUDA device's engine takes; 0: all that is free. Images that need more
  // are processed in bands.
  std::int64_t device_memory_bytes = 0;
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
  std::vector<std::string> warnings;   // the reader's, about damage that it accepted
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
  // or 16 bits per sample or f32, rows of any stride. The host reads the pixels where they are. A plan may be
  // used any number of times, by any runner with the same settings. Throws Error(usage) if the plan is for
  // another shape, or if a named CUDA device does not support a step; Error(memory); Error(device).
  [[nodiscard]] RunResult run(ConstHostView image, const Plan& plan);
  [[nodiscard]] RunResult run(ConstHostView image, std::string_view stages = kDefaultStages);

  // Writes the last result of the plan to the caller's memory: `out` has the shape plan.output, or is the
  // tensor's frame(), and rows of any stride; bytes between rows are not written. If `out` overlaps `image`,
  // the result is made elsewhere and copied at the end. The report is made only if requested. Throws as
  // above, and Error(usage) if `out` has another shape or its samples are not aligned; the contents of `out`
  // are then unspecified.
  void run(ConstHostView image, const Plan& plan, HostView out, RunReport* report = nullptr);
  // The same for an image that is decoded: on the host band by band, so that the decoded image never exists
  // as a whole unless a step needs all its rows. `reader`: no rows read yet. Throws also as
  // Reader::read_rows().
  void run(std::unique_ptr<Reader> reader, const Plan& plan, HostView out, RunReport* report = nullptr);

  // Frees the memory that the engines of the host keep for further images: at most kKeptBytes of
  // images/memory/kept_memory.h each.
  void trim();

 private:
  struct Done {
    Outcome outcome;
    DeviceChoice choice;
    std::shared_ptr<Engine> engine;
  };
  [[nodiscard]] RunResult run(ConstHostView image, const Plan& plan, Timeline timeline);
  void run_into(Job job, HostView out, RunReport* report);
  [[nodiscard]] Done execute(Job job);
  [[nodiscard]] DeviceChoice device_for(const Plan& plan);
  [[nodiscard]] std::shared_ptr<Engine> engine_of(const DeviceChoice& choice);

  RunnerSettings settings_;
  DeviceChoice asked_;
  std::optional<CudaDevices> found_;  // listed by `auto`
  std::map<Backend, std::shared_ptr<Engine>> engines_;
};

}  // namespace imgpipe
