#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "images/text.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

std::string_view skip_reason(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return stage.skip_reason == nullptr ? "" : stage.skip_reason(in, parameters);
}

// Whether the stage has a kernel, on any backend, for the frame and the resulting type, or would be skipped.
bool takes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  const auto has_kernel = [&](const auto& of) { return std::ranges::any_of(stage.kernels, of); };
  if (!has_kernel([&](const Kernel& kernel) { return kernel.in == in.sample; })) return false;
  if (!skip_reason(stage, in, parameters).empty()) return true;
  const Sample out = output_type(stage, in, parameters).sample;
  return has_kernel([&](const Kernel& kernel) { return kernel.in == in.sample && kernel.out == out; });
}

FrameType with_samples(FrameType type, Sample sample) {
  type.sample = sample;
  return type;
}

// Names of sample types, for parameters of depth and for messages.
struct SampleNames {
  std::string_view depth, text;
};
SampleNames names_of(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return {"8", "8-bit samples"};
    case Sample::u16:
      return {"16", "16-bit samples"};
    case Sample::f32:
      return {"float", "float samples"};
  }
  unreachable();
}

std::string depth_step(Sample sample) {
  return "depth:" + std::string(names_of(sample).depth);
}

// Names the step, the type that it does not accept, and the step to insert.
Error refusal(const StageRequest& request, const FrameType& in) {
  std::string depths;
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    if (takes(*request.stage, with_samples(in, sample), request.parameters))
      depths += (depths.empty() ? "; insert " : " or ") + depth_step(sample);
  }
  return {ErrorKind::usage, std::string(request.stage->name) + request.said + " does not accept " +
                                std::string(names_of(in.sample).text) + depths +
                                (depths.empty() ? "" : " before it")};
}

std::string size_text(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height);
}

void check_size(const std::string& label, const FrameType& out, std::int64_t max_pixels) {
  const std::string makes = label + " makes " + size_text(out) + " pixels";
  if (out.width < 1 || out.height < 1 || out.width > kMaxSide || out.height > kMaxSide)
    throw Error(ErrorKind::usage, makes + "; expected 1 to " + std::to_string(kMaxSide) + " per side");
  if (out.pixels() > max_pixels)
    throw Error(ErrorKind::input, makes + "; raise --max-pixels (now " + std::to_string(max_pixels) + ")");
}

// Returns the table of a step, if it depends only on type and parameters.
std::shared_ptr<const std::vector<std::byte>> constant_table(const Step& step) {
  const Stage* const maker =
      table_maker(*step.stage, step.parameters, Backend::cpu, step.in.sample, step.out.sample);
  if (maker == nullptr || !maker->ports.in.empty()) return nullptr;
  return std::make_shared<std::vector<std::byte>>(
      make_table(*maker, {.in = {step.in, {}}, .parameters = step.parameters}));
}

class PlanBuilder {
 public:
  PlanBuilder(const Shape& input, std::int64_t max_pixels)
      : frame_(frame_type_of(input)), max_pixels_(max_pixels) {
    plan_.input = input;
    plan_.results.clear();
  }

  void add_selected(const StageRequest& request) {
    const auto& [stage, parameters, said] = request;
    const FrameType in = accepted_frame(request);
    const std::string_view why = skip_reason(*stage, in, parameters);
    if (!why.empty()) {
      plan_.notes.push_back("skipped " + std::string(stage->name) + said + ": " + std::string(why));
      return;
    }
    FrameType out = in;
    const std::string_view rejected = stage->infer == nullptr ? "" : stage->infer(in, parameters, out);
    if (!rejected.empty())
      throw Error(ErrorKind::usage, std::string(stage->name) + said + " of " + size_text(in) +
                                        " pixels: " + std::string(rejected));
    add(request);
  }

  // The next list begins with the decoded image.
  void end_list(int max_bits) {
    plan_.reduced = !is_float(frame_.sample) && 8 * bytes_per_sample(frame_.sample) > max_bits;
    if (plan_.reduced) add(parse_stages(kReducingStep).front(), true);
    change_layout(Layout::interleaved);
    plan_.output = shape_of(frame_);
    plan_.results.push_back(made_by_);
    frame_ = frame_type_of(plan_.input);
    made_by_.reset();
    counted_by_.reset();
    earlier_steps_ = plan_.steps.size();
  }

  Plan finish() { return std::move(plan_); }

 private:
  // Returns the type in which a step accepts the frame: unchanged, or as floats, which hold all integers.
  [[nodiscard]] FrameType accepted_frame(const StageRequest& request) const {
    for (const Sample sample : {frame_.sample, Sample::f32}) {
      const FrameType in = with_samples(frame_, sample);
      if (takes(*request.stage, in, request.parameters)) return in;
    }
    throw refusal(request, frame_);
  }

  // Grey without alpha has the same bytes in both layouts.
  void change_layout(std::optional<Layout> wanted) {
    if (!wanted || frame_.layout == *wanted || frame_.channels() == 1) return;
    add_implicit(*std::ranges::find_if(stage_table(), [&](const Stage& stage) {
      return stage.effect == Effect::layout && stage.ports.out.front().layout == wanted;
    }));
  }

  void add_implicit(const Stage& stage) { add({&stage, presets(stage.parameters), ""}, true); }

  // Adds a step, preceded by the implicit steps that its ports need.
  void add(const StageRequest& request, bool implicit = false) {
    const Stage& stage = *request.stage;
    if (const Sample sample = accepted_frame(request).sample; sample != frame_.sample)
      add(parse_stages(depth_step(sample)).front(), true);
    change_layout(stage.ports.in.front().layout);
    if (reads_counts(stage, request.parameters) && !counted_by_)
      add_implicit(*std::ranges::find_if(
          stage_table(), [](const Stage& one) { return makes_counts(one) && !makes_pixels(one); }));
    const std::size_t index = index_of_same(request);
    if (index == plan_.steps.size()) append(request, implicit);
    const Step& step = plan_.steps[index];
    frame_ = step.out;
    if (makes_pixels(stage)) {
      made_by_ = index;
      counted_by_.reset();
    }
    if (makes_counts(stage)) counted_by_ = index;
  }

  // The step of an earlier list that does the same to the same image; the next index if there is none.
  [[nodiscard]] std::size_t index_of_same(const StageRequest& request) const {
    const std::span earlier = std::span(plan_.steps).first(earlier_steps_);
    const auto same = std::ranges::find_if(earlier, [&](const Step& step) {
      return step.stage == request.stage && step.parameters == request.parameters && step.reads == made_by_;
    });
    return same == earlier.end() ? plan_.steps.size() : static_cast<std::size_t>(same - earlier.begin());
  }

  void append(const StageRequest& request, bool implicit) {
    const Stage& stage = *request.stage;
    Step step{.stage = &stage, .parameters = request.parameters, .implicit = implicit, .reads = made_by_};
    const auto earlier = std::ranges::count(plan_.steps, &stage, &Step::stage);
    step.label = std::string(stage.name);
    if (earlier > 0) step.label += "#" + std::to_string(earlier + 1);
    step.label += request.said;
    if (step.implicit) step.label += "*";
    step.in = frame_;
    step.out = output_type(stage, frame_, step.parameters);
    if (makes_pixels(stage)) check_size(step.label, step.out, max_pixels_);
    step.table = constant_table(step);
    if (reads_counts(stage, step.parameters)) step.counted_by = counted_by_;
    plan_.steps.push_back(std::move(step));
  }

  Plan plan_;
  FrameType frame_;
  const std::int64_t max_pixels_;
  std::optional<std::size_t> made_by_;     // the step that has made frame_
  std::optional<std::size_t> counted_by_;  // the step that has counted frame_
  std::size_t earlier_steps_ = 0;          // of earlier lists
};

bool lacks_cuda(const Step& step) {
  return find_kernel(*step.stage, Backend::cuda, step.in.sample, step.out.sample) == nullptr;
}

// Returns the stage that does the work of both steps; nullptr if there is none for these samples.
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
  std::vector<std::size_t> now_at;  // new indices, by old index
  for (Step& step : plan.steps) {
    for (auto* index : {&step.reads, &step.counted_by}) {
      if (*index) *index = now_at[**index];
    }
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
                  .reads = first.reads,
                  .counted_by = first.counted_by};
      merged.parts.push_back(std::move(first));
      merged.parts.push_back(std::move(step));
      fused.back() = std::move(merged);
    }
    now_at.push_back(fused.size() - 1);
  }
  plan.steps = std::move(fused);
  for (auto& result : plan.results) {
    if (result) result = now_at[*result];
  }
}

}  // namespace

Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse, std::int64_t max_pixels,
               int max_bits) {
  PlanBuilder builder(input, max_pixels);
  for (const StageRequest& request : stages) builder.add_selected(request);
  builder.end_list(max_bits);
  Plan plan = builder.finish();
  if (fuse) fuse_steps(plan);
  return plan;
}

Plan make_branched_plan(std::span<const std::string_view> lists, const Shape& input,
                        std::int64_t max_pixels) {
  if (lists.empty()) throw Error(ErrorKind::usage, "expected at least 1 list of stages");
  PlanBuilder builder(input, max_pixels);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    try {
      for (const StageRequest& request : parse_stages(lists[i])) builder.add_selected(request);
      builder.end_list(std::numeric_limits<int>::max());
    } catch (const Error& error) {
      throw Error(error.kind(),
                  "list " + std::to_string(i + 1) + ", '" + printable(lists[i]) + "': " + error.what());
    }
  }
  return builder.finish();
}

const Step* step_without_cuda(const Plan& plan) {
  if (!built_with_cuda()) return nullptr;
  const auto step = std::ranges::find_if(plan.steps, lacks_cuda);
  return step == plan.steps.end() ? nullptr : &*step;
}

std::string why_not_on_cuda(const Step& step) {
  const std::int64_t bytes = std::max(bytes_per_sample(step.in.sample), bytes_per_sample(step.out.sample));
  return std::string(step.stage->name) + " does not support " + std::to_string(8 * bytes) +
         " bits per sample on CUDA devices";
}

}  // namespace imgpipe
