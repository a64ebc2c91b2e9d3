#include "pipeline/runner.h"

#include <cstdint>
#include <functional>

#include "images/error.h"
#include "images/text.h"
#include "pipeline/engine_choice.h"
#include "pipeline/second_images.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/trimmed_steps.h"

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
                   .tensor = outcome.plan.tensor,
                   .implementation = std::string(engine.implementation()),
                   .processor = engine.device_name(),
                   .why = choice.why,
                   .steps = {},
                   .rows = time_rows(outcome.timeline),
                   .ranges = contrast_ranges(outcome),
                   .notes = outcome.plan.notes,
                   .warnings = outcome.warnings};
  report.steps.reserve(outcome.plan.steps.size());
  for (const Step& step : outcome.plan.steps) report.steps.push_back(step.label);
  for (std::string& warning : take_device_warnings()) report.notes.push_back(std::move(warning));
  report.wall_ms = static_cast<double>(outcome.timeline.now_ns()) / 1e6;
  return report;
}

void check_source(const Shape& shape, const Plan& plan) {
  if (shape != plan.input) throw Error(ErrorKind::usage, "the shape of the image differs from the plan's");
}

Job job_for(const ConstHostView& image, const Plan& plan, Timeline timeline) {
  check_source(image.empty() ? Shape{} : image.shape(), plan);
  Job job;
  job.reader = make_memory_reader(image);
  job.source = image;
  job.counts_for = CountsFor::timing;
  job.plan = plan;
  job.timeline = std::move(timeline);
  return job;
}

void check_target(const HostView& out, const Plan& plan) {
  if (out.empty() || out.shape() != plan.output)
    throw Error(ErrorKind::usage, "the shape of the output differs from the plan's");
  const auto sample = static_cast<std::uintptr_t>(bytes_per_sample(out.sample));
  const auto offset =
      reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.stride_bytes);
  if (offset % sample != 0 || (out.height > 1 && out.stride_bytes < out.row_bytes()))
    throw Error(ErrorKind::usage, "the rows of the output overlap, or its samples are not aligned");
}

bool overlap(const ConstHostView& a, const ConstHostView& b) {
  const auto end = [](const ConstHostView& view) { return view.row(view.height - 1) + view.row_bytes(); };
  const std::less<> before;
  return !a.empty() && before(a.data, end(b)) && before(b.data, end(a));
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
  if (settings_.threads == 0) settings_.threads = host_threads();
}

Runner::~Runner() = default;

Plan Runner::plan(const Shape& input, std::string_view stages) const {
  check_input(input);
  std::vector<StageRequest> steps = parse_stages(stages);
  refuse_trim(steps);
  (void)load_second_images(steps, {.threads = settings_.threads});
  return make_plan(steps, input, settings_.fuse, settings_.max_pixels);
}

Plan Runner::branched_plan(const Shape& input, const std::vector<std::string_view>& lists) const {
  check_input(input);
  std::vector<StageBranch> branches = parse_branches(lists);
  (void)load_second_images(branches, {.threads = settings_.threads});
  return make_branched_plan(branches, input, settings_.max_pixels);
}

RunResult Runner::run(ConstHostView image, const Plan& plan) {
  return run(image, plan, Timeline());
}

RunResult Runner::run(ConstHostView image, std::string_view stages) {
  Timeline timeline;
  return run(image, plan(image.shape(), stages), std::move(timeline));
}

RunResult Runner::run(ConstHostView image, const Plan& plan, Timeline timeline) {
  Done done = execute(job_for(image, plan, std::move(timeline)));
  Outcome& outcome = done.outcome;
  RunReport report = report_of(outcome, *done.engine, done.choice);
  auto kept = std::make_shared<Kept>(Kept{done.choice.backend == Backend::cuda ? done.engine : nullptr,
                                          std::move(outcome.source), std::move(outcome.memory)});
  return {std::move(kept), outcome.pixels, std::move(outcome.results), std::move(report)};
}

void Runner::run(ConstHostView image, const Plan& plan, HostView out, RunReport* report) {
  Timeline timeline;
  run_into(job_for(image, plan, std::move(timeline)), out, report);
}

void Runner::run(std::unique_ptr<Reader> reader, const Plan& plan, HostView out, RunReport* report) {
  Job job;
  check_source(reader->header().shape, plan);
  job.reader = std::move(reader);
  job.counts_for = CountsFor::timing;
  job.plan = plan;
  run_into(std::move(job), out, report);
}

void Runner::run_into(Job job, HostView out, RunReport* report) {
  check_target(out, job.plan);
  const bool copies = overlap(job.source, out);
  if (!copies) job.target = out;
  Done done = execute(std::move(job));
  if (copies) copy_pixels(done.outcome.pixels, out);
  if (report != nullptr) *report = report_of(done.outcome, *done.engine, done.choice);
}

Runner::Done Runner::execute(Job job) {
  DeviceChoice choice = device_for(job.plan);
  std::shared_ptr<Engine> engine = engine_of(choice);
  const bool of_device = choice.backend == Backend::cuda;
  if (of_device) job.source = {};
  Outcome outcome = engine->run(std::move(job));
  if (outcome.error) {
    if (of_device)
      engines_.erase(choice.backend.value());  // after a device error an engine cannot be used again
    std::rethrow_exception(outcome.error);
  }
  return {std::move(outcome), std::move(choice), std::move(engine)};
}

void Runner::trim() {
  for (const auto& [backend, engine] : engines_) engine->trim();
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
  if (!engine) {
    DeviceChoice limited = choice;
    limited.memory_bytes = settings_.device_memory_bytes;
    engine = make_engine(limited, settings_.threads);
  }
  return engine;
}

}  // namespace imgpipe
