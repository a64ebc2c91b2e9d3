#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

bool works_on(const Stage& stage, Sample sample) {
  return std::ranges::find(stage.kernels, sample, &Kernel::in) != stage.kernels.end();
}

std::string size_text(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height);
}

void check_size(const std::string& label, const FrameType& out, std::int64_t most_pixels) {
  const std::string makes = label + " makes " + size_text(out) + " pixels";
  if (out.width < 1 || out.height < 1 || out.width > kMostSide || out.height > kMostSide)
    throw Error(ErrorKind::usage, makes + "; a side has 1 to " + std::to_string(kMostSide));
  if (out.pixels() > most_pixels)
    throw Error(ErrorKind::input, makes + ", more than --max-pixels " + std::to_string(most_pixels));
}

// The table of a stage, if it is made of type and parameters alone.
std::shared_ptr<const std::vector<std::byte>> constant_table(const Step& step) {
  const Stage* const maker =
      table_maker(*step.stage, step.parameters, Backend::cpu, step.in.sample, step.out.sample);
  if (maker == nullptr || !maker->ports.in.empty()) return nullptr;
  return std::make_shared<std::vector<std::byte>>(
      make_table(*maker, {.in = {step.in, {}}, .parameters = step.parameters}));
}

class PlanBuilder {
 public:
  PlanBuilder(const Shape& input, std::int64_t most_pixels)
      : frame_(frame_type_of(input)), most_pixels_(most_pixels) {
    plan_.input = input;
  }

  void add_selected(const StageRequest& request) {
    const auto& [stage, parameters, said] = request;
    check_samples(*stage);
    const std::string_view why = stage->skip_reason == nullptr ? "" : stage->skip_reason(frame_, parameters);
    if (!why.empty()) {
      plan_.notes.push_back(std::string(stage->name) + said + " left out: " + std::string(why));
      return;
    }
    FrameType out = frame_;
    const std::string_view rejected = stage->infer == nullptr ? "" : stage->infer(frame_, parameters, out);
    if (!rejected.empty())
      throw Error(ErrorKind::usage, std::string(stage->name) + said + " of " + size_text(frame_) +
                                        " pixels: " + std::string(rejected));
    add(request);
  }

  Plan finish(int most_bits) {
    plan_.reduced = 8 * bytes_per_sample(frame_.sample) > most_bits;
    if (plan_.reduced) add(parse_stages(kReducingStep).front(), true);
    change_layout(Layout::interleaved);
    plan_.output = shape_of(frame_);
    return std::move(plan_);
  }

 private:
  void check_samples(const Stage& stage) const {
    if (works_on(stage, frame_.sample)) return;
    throw Error(ErrorKind::usage, std::string(stage.name) + " takes no images of " +
                                      std::to_string(8 * bytes_per_sample(frame_.sample)) + " bits a sample");
  }

  // Grey without alpha is the same bytes in both layouts.
  void change_layout(std::optional<Layout> wanted) {
    if (!wanted || frame_.layout == *wanted || frame_.channels() == 1) return;
    add_implicit(*std::ranges::find_if(stage_table(), [&](const Stage& stage) {
      return stage.effect == Effect::layout && stage.ports.out.front().layout == wanted;
    }));
  }

  void add_implicit(const Stage& stage) { add({&stage, presets(stage.parameters), ""}, true); }

  // First what its ports need and is not there.
  void add(const StageRequest& request, bool implicit = false) {
    const Stage& stage = *request.stage;
    change_layout(stage.ports.in.front().layout);
    if (reads_counts(stage, request.parameters) && !counted_by_)
      add_implicit(*std::ranges::find_if(
          stage_table(), [](const Stage& one) { return makes_counts(one) && !makes_pixels(one); }));
    Step step{.stage = &stage, .parameters = request.parameters, .implicit = implicit};
    const auto earlier = std::ranges::count(plan_.steps, &stage, &Step::stage);
    step.label = std::string(stage.name);
    if (earlier > 0) step.label += "#" + std::to_string(earlier + 1);
    step.label += request.said;
    if (step.implicit) step.label += "*";
    check_samples(stage);
    step.in = frame_;
    step.out = output_type(stage, frame_, step.parameters);
    if (makes_pixels(stage)) check_size(step.label, step.out, most_pixels_);
    step.table = constant_table(step);
    if (reads_counts(stage, step.parameters)) step.counted_by = counted_by_;
    if (makes_pixels(stage)) counted_by_.reset();
    if (makes_counts(stage)) counted_by_ = plan_.steps.size();
    frame_ = step.out;
    plan_.steps.push_back(std::move(step));
  }

  Plan plan_;
  FrameType frame_;
  const std::int64_t most_pixels_;
  std::optional<std::size_t> counted_by_;  // the step that has counted frame_
};

bool lacks_cuda(const Step& step) {
  return find_kernel(*step.stage, Backend::cuda, step.in.sample, step.out.sample) == nullptr;
}

// The stage that does the work of both, nullptr when there is none for these samples.
const Stage* fused_stage(const Step& first, const Step& second) {
  const Sample sample = first.in.sample;
  if (first.out.sample != sample || second.out.sample != sample) return nullptr;
  for (const Stage& stage : stage_table()) {
    if (stage.fuses[0] == first.stage->name && stage.fuses[1] == second.stage->name)
      return find_kernel(stage, Backend::cuda, sample, sample) != nullptr ? &stage : nullptr;
  }
  return nullptr;
}

void fuse_steps(Plan& plan) {
  std::vector<Step> fused;
  std::vector<std::size_t> now_at;  // by step of before
  for (Step& step : plan.steps) {
    if (step.counted_by) step.counted_by = now_at[*step.counted_by];
    const Stage* both =
        fused.empty() || !fused.back().parts.empty() ? nullptr : fused_stage(fused.back(), step);
    if (both == nullptr) {
      fused.push_back(std::move(step));
    } else {
      Step first = std::move(fused.back());
      Step merged{.stage = both,
                  .parameters = first.parameters,
                  .label = first.label + "+" + step.label,
                  .in = first.in,
                  .out = step.out,
                  .counted_by = first.counted_by};
      merged.parts.push_back(std::move(first));
      merged.parts.push_back(std::move(step));
      fused.back() = std::move(merged);
    }
    now_at.push_back(fused.size() - 1);
  }
  plan.steps = std::move(fused);
}

}  // namespace

Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse, std::int64_t most_pixels,
               int most_bits) {
  PlanBuilder builder(input, most_pixels);
  for (const StageRequest& request : stages) builder.add_selected(request);
  Plan plan = builder.finish(most_bits);
  if (fuse) fuse_steps(plan);
  return plan;
}

const Step* step_without_cuda(const Plan& plan) {
  if (!built_with_cuda()) return nullptr;
  const auto step = std::ranges::find_if(plan.steps, lacks_cuda);
  return step == plan.steps.end() ? nullptr : &*step;
}

std::string why_not_on_cuda(const Step& step) {
  const std::int64_t bytes = std::max(bytes_per_sample(step.in.sample), bytes_per_sample(step.out.sample));
  return std::string(step.stage->name) + " has no function for " + std::to_string(8 * bytes) +
         " bits a sample on CUDA devices";
}

}  // namespace imgpipe
