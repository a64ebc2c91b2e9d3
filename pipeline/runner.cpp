#include "pipeline/runner.h"

#include "images/error.h"
#include "images/text.h"
#include "pipeline/engine_choice.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

// The memory of a result's pixels. `engine` is set if it owns that memory, as pinned memory, and is destroyed
// last. A result from the host keeps no engine, because that would keep its threads alive.
struct Kept {
  std::shared_ptr<Engine> engine;
  Image source;
  std::vector<Image> memory;
};

void check_input(const Shape& input) {
  if (input.width < 1 || input.height < 1 || input.channels < 1 || input.channels > 4)
    throw Error(ErrorKind::usage, "image: expected at least 1x1 pixels and 1 to 4 channels, got " +
                                      std::to_string(input.width) + "x" + std::to_string(input.height) +
                                      " and " + std::to_string(input.channels));
}

RunReport report_of(Outcome& outcome, const Engine& engine, const DeviceChoice& choice) {
  RunReport report{.input = outcome.plan.input,
                   .output = outcome.plan.output,
                   .implementation = std::string(engine.implementation()),
                   .processor = engine.device_name(),
                   .why = choice.why,
                   .steps = {},
                   .rows = time_rows(outcome.timeline),
                   .ranges = contrast_ranges(outcome),
                   .notes = outcome.plan.notes};
  for (const Step& step : outcome.plan.steps) report.steps.push_back(step.label);
  for (std::string& warning : take_device_warnings()) report.notes.push_back(std::move(warning));
  return report;
}

}  // namespace

Runner::Runner(RunnerSettings settings)
    : settings_(std::move(settings)), asked_(choose_device(settings_.device)) {
  if (asked_.cuda_devices.size() > 1)
    throw Error(ErrorKind::usage,
                "--device: one image needs a single device, got " + printable(settings_.device));
  if (settings_.threads < 0 || settings_.threads > kMaxThreads)
    throw Error(ErrorKind::usage, "--threads: expected 1 to " + std::to_string(kMaxThreads) +
                                      " (0: one per processor), got " + std::to_string(settings_.threads));
  if (settings_.threads == 0) settings_.threads = host_info().threads;
}

Runner::~Runner() = default;

Plan Runner::plan(const Shape& input, std::string_view stages) const {
  check_input(input);
  return make_plan(parse_stages(stages), input, settings_.fuse, settings_.max_pixels);
}

Plan Runner::branched_plan(const Shape& input, const std::vector<std::string_view>& lists) const {
  check_input(input);
  return make_branched_plan(lists, input, settings_.max_pixels);
}

RunResult Runner::run(ConstHostView image, Plan plan, Timeline timeline) {
  if (image.empty() || image.shape() != plan.input)
    throw Error(ErrorKind::usage, "the shape of the image differs from the plan's");
  const DeviceChoice choice = device_for(plan);
  const std::shared_ptr<Engine> engine = engine_of(choice);
  Job job;
  job.reader = make_memory_reader(image);
  job.plan = std::move(plan);
  job.timeline = std::move(timeline);
  Outcome outcome = engine->run(std::move(job));
  const bool of_device = choice.backend == Backend::cuda;
  if (outcome.error) {
    if (of_device)
      engines_.erase(choice.backend.value());  // after a device error an engine cannot be used again
    std::rethrow_exception(outcome.error);
  }
  RunReport report = report_of(outcome, *engine, choice);
  auto kept = std::make_shared<Kept>(
      Kept{of_device ? engine : nullptr, std::move(outcome.source), std::move(outcome.memory)});
  report.wall_ms = static_cast<double>(outcome.timeline.now_ns()) / 1e6;
  return {std::move(kept), outcome.pixels, std::move(outcome.results), std::move(report)};
}

DeviceChoice Runner::device_for(const Plan& plan) {
  if (asked_.backend && asked_.backend != Backend::cuda) return asked_;
  if (const std::string lacking = why_not_on_cuda(plan); !lacking.empty()) {
    if (asked_.backend == Backend::cuda) throw Error(ErrorKind::usage, lacking + "; use --device cpu");
    return {Backend::cpu, {}, "auto chose cpu (" + lacking + ")"};
  }
  if (asked_.backend == Backend::cuda) return asked_;
  const CostModel model = default_cost_model();
  if (built_with_cuda() && !model.single_image_pays(plan.input.pixels(), settings_.threads))
    return choose_without_devices();  // avoids initialising CUDA, which breaks it in forked processes
  if (!found_) found_ = list_cuda_devices();
  return choose_by_cost(*found_, model, "typical costs", plan.input.pixels(), settings_.threads, 1);
}

std::shared_ptr<Engine> Runner::engine_of(const DeviceChoice& choice) {
  std::shared_ptr<Engine>& engine = engines_[choice.backend.value()];
  if (!engine) engine = make_engine(choice, settings_.threads);
  return engine;
}

}  // namespace imgpipe
