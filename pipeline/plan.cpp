#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "images/text.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/constant_tables.h"
#include "pipeline/device.h"
#include "pipeline/trimmed_steps.h"

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

// Names of sample types, for the parameters of the depth stage (empty: no such parameter) and for messages.
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
    case Sample::f16:
      return {"", "float16 samples"};
    case Sample::bf16:
      return {"", "bfloat16 samples"};
  }
  unreachable();
}

std::string depth_step(Sample sample) {
  return "depth:" + std::string(names_of(sample).depth);
}

// Returns an error that names the step, the type that it does not accept, and the step to insert.
Error refusal(const StageRequest& request, const FrameType& in) {
  std::string depths;
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    if (takes(*request.stage, with_samples(in, sample), request.parameters))
      depths += (depths.empty() ? "; insert " : " or ") + depth_step(sample);
  }
  return {ErrorKind::usage, std::string(request.stage->name) + printable(request.said) + " does not accept " +
                                std::string(names_of(in.sample).text) + depths +
                                (depths.empty() ? "" : " before it")};
}

std::string size_text(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height);
}

// Whether the stage's table is made from the second image, which its infer() checks; others read the image's
// planes.
bool makes_table_of_image(const Stage& stage) {
  return stage.name == "colormap";
}

// Checks that the second image of a step fits the image.
void check_second_image(const StageRequest& request, const FrameType& in) {
  const SecondImage& second = *request.image;
  const std::string where = std::string(request.stage->name) + printable(request.said) + ": ";
  const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::usage, where + why); };
  if (!second.is_loaded()) refuse("the image is not loaded");
  if (makes_table_of_image(*request.stage)) return;
  const Port& port = *find_port(request.stage->ports.in, ValueKind::table);
  const bool same_size = second.type.width == in.width && second.type.height == in.height;
  if (!port.placed && !same_size)
    refuse("the second image has " + size_text(second.type) + " pixels, the image " + size_text(in) +
           "; crop or resize one of them");
  if (second.type.sample != in.sample)
    refuse("the second image has " + std::string(names_of(second.type.sample).text) + ", the image " +
           std::string(names_of(in.sample).text) + "; insert depth in the stages of one of them");
  if (port.appended) return;
  if (second.type.color_channels != 1 && second.type.color_channels != in.color_channels)
    refuse(
        "the second image has colours, the image is grey; insert rgb before it, or gray in the stages of "
        "the second image");
  if (second.type.alpha && !port.alpha)
    refuse("the second image has alpha; insert flatten or rgb in its stages");
}

void check_size(const std::string& label, const FrameType& out, std::int64_t max_pixels) {
  const std::string makes = label + " would produce " + size_text(out) + " pixels";
  if (out.width < 1 || out.height < 1 || out.width > kMaxSide || out.height > kMaxSide)
    throw Error(ErrorKind::usage, makes + "; expected 1 to " + std::to_string(kMaxSide) + " per side");
  if (out.pixels() > max_pixels)
    throw Error(ErrorKind::input, makes + "; raise --max-pixels (now " + std::to_string(max_pixels) + ")");
}

// Makes one step per operation; with `fuse`, one step for all operations that a fused stage replaces.
void make_steps(Plan& plan, bool fuse) {
  const std::span<Operation> all(plan.operations);
  std::size_t end = 0;  // of the step's operations
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < end) {
      plan.steps.back().label += "+" + all[i].label;
    } else {
      const Fusion* const fusion = fuse ? find_fusion(all.subspan(i), false) : nullptr;
      end = i + (fusion == nullptr ? 1 : fusion->stages.size());
      plan.steps.push_back({all[i].label});
    }
    all[i].step = plan.steps.size() - 1;
  }
}

class PlanBuilder {
 public:
  PlanBuilder(const Shape& input, std::int64_t max_pixels, bool counts_planes)
      : frame_(frame_type_of(input)), max_pixels_(max_pixels), counts_planes_(counts_planes) {
    plan_.input = input;
    plan_.results.clear();
  }

  void add_selected(const StageRequest& request) {
    const auto& [stage, parameters, said, image] = request;
    const FrameType in = accepted_frame(request);
    if (const std::string_view why = skip_reason(*stage, in, parameters); !why.empty()) {
      plan_.notes.push_back("skipped " + std::string(stage->name) + said + ": " + std::string(why));
    } else {
      if (image && stage->name != "icc") check_second_image(request, in);
      FrameType out = in;
      const std::string_view rejected = stage->infer == nullptr ? "" : stage->infer(in, parameters, out);
      if (!rejected.empty())
        throw Error(ErrorKind::usage, std::string(stage->name) + said + " on a " + size_text(in) +
                                          " image: " + std::string(rejected));
      add(request);
    }
    if (stage->followed_by != nullptr) add_following(stage->followed_by(parameters));
  }

  // Ends a list; the next one begins with the decoded image.
  void end_list(int max_bits) {
    if (max_bits == 0 && !is_float(frame_.sample)) add(parse_stages(depth_step(Sample::f32)).front(), true);
    const bool reduces = !is_float(frame_.sample) && 8 * bytes_per_sample(frame_.sample) > max_bits;
    if (reduces) add(parse_stages(kReducingStep).front(), true);
    plan_.reduced = plan_.reduced || reduces;
    change_layout(Layout::interleaved);
    plan_.output = shape_of(frame_);
    plan_.tensor = std::exchange(tensor_, std::nullopt);
    plan_.results.push_back(made_by_);
    frame_ = frame_type_of(plan_.input);
    made_by_.reset();
    counted_by_.reset();
    earlier_operations_ = plan_.operations.size();
  }

  Plan finish(bool fuse) {
    make_steps(plan_, fuse);
    return std::move(plan_);
  }

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

  void add_following(const StageAndParameters& next) {
    if (next.stage == nullptr || !skip_reason(*next.stage, frame_, next.parameters).empty()) return;
    add(request_of(*next.stage, next.parameters), true);
  }

  // Whether the step processes interleaved samples as one plane. A hist of the list shows counts of planes.
  [[nodiscard]] bool keeps_layout(const StageRequest& request, bool implicit) const {
    const bool counts = makes_counts(*request.stage) && !implicit;
    const bool needs_planes = counts || (counts_planes_ && reads_counts(*request.stage, request.parameters));
    return !needs_planes && is_one_plane(*request.stage, frame_, request.parameters);
  }

  // Adds a step, preceded by the implicit steps that its ports need.
  void add(const StageRequest& request, bool implicit = false) {
    const Stage& stage = *request.stage;
    if (const Sample sample = accepted_frame(request).sample; sample != frame_.sample)
      add(parse_stages(depth_step(sample)).front(), true);
    if (!keeps_layout(request, implicit)) change_layout(stage.ports.in.front().layout);
    if (reads_counts(stage, request.parameters) && !counted_by_)
      add_implicit(*std::ranges::find_if(
          stage_table(), [](const Stage& one) { return makes_counts(one) && !makes_pixels(one); }));
    const std::size_t index = index_of_same(request);
    if (index == plan_.operations.size()) append(request, implicit);
    frame_ = plan_.operations[index].out;
    if (makes_pixels(stage)) {
      made_by_ = index;
      counted_by_.reset();
      tensor_.reset();
      if (stage.tensor != nullptr) tensor_ = stage.tensor(plan_.operations[index].in, request.parameters);
    }
    if (makes_counts(stage)) counted_by_ = index;
  }

  // Returns the operation of an earlier list that does the same to the same image; the next index if none
  // does.
  [[nodiscard]] std::size_t index_of_same(const StageRequest& request) const {
    const std::span earlier = std::span(plan_.operations).first(earlier_operations_);
    const auto same = std::ranges::find_if(earlier, [&](const Operation& one) {
      return one.stage == request.stage && one.parameters == request.parameters && one.reads == made_by_;
    });
    return same == earlier.end() ? plan_.operations.size() : static_cast<std::size_t>(same - earlier.begin());
  }

  void append(const StageRequest& request, bool implicit) {
    const Stage& stage = *request.stage;
    Operation added{.stage = &stage, .parameters = request.parameters, .reads = made_by_};
    const auto earlier = std::ranges::count(plan_.operations, &stage, &Operation::stage);
    added.label = std::string(stage.name);
    if (earlier > 0) added.label += "#" + std::to_string(earlier + 1);
    added.label += printable(request.said);  // may hold the name of a file
    if (implicit) added.label += "*";
    added.in = frame_;
    added.out = output_type(stage, frame_, added.parameters);
    // The frame of a tensor may stack the channels, so it may have more pixels than the image checked before.
    constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
    if (makes_pixels(stage))
      check_size(added.label, added.out, stage.tensor == nullptr ? max_pixels_ : kAnyNumber);
    added.table = request.image && !makes_table_of_image(stage)
                      ? ConstantTable(request.image, &request.image->planes)
                      : constant_table(stage, added.parameters, added.in, added.out);
    if (reads_counts(stage, added.parameters)) added.counted_by = counted_by_;
    plan_.operations.push_back(std::move(added));
  }

  Plan plan_;
  FrameType frame_;
  const std::int64_t max_pixels_;
  const bool counts_planes_;
  std::optional<std::size_t> made_by_;     // the operation that made frame_
  std::optional<std::size_t> counted_by_;  // the operation that counted frame_
  std::optional<TensorType> tensor_;       // if frame_ is a tensor
  std::size_t earlier_operations_ = 0;     // of earlier lists
};

}  // namespace

Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse, std::int64_t max_pixels,
               int max_bits, bool counts_planes) {
  PlanBuilder builder(input, max_pixels, counts_planes || fuse);
  for (const StageRequest& request : stages) builder.add_selected(request);
  builder.end_list(max_bits);
  return builder.finish(fuse);
}

Plan make_branched_plan(std::span<const StageBranch> branches, const Shape& input, std::int64_t max_pixels,
                        int max_bits, bool counts_planes) {
  if (branches.empty()) throw Error(ErrorKind::usage, "expected at least 1 list of stages");
  PlanBuilder builder(input, max_pixels, counts_planes);
  for (const auto& [name, steps] : branches) {
    const auto add = [&, &steps = steps] {
      refuse_trim(steps);
      for (const StageRequest& request : steps) builder.add_selected(request);
      builder.end_list(max_bits);
    };
    name.empty() ? add() : naming(name, add);
  }
  return builder.finish(false);
}

Plan make_branched_plan(std::span<const std::string_view> lists, const Shape& input,
                        std::int64_t max_pixels) {
  return make_branched_plan(parse_branches(lists), input, max_pixels);
}

std::vector<const Operation*> Plan::operations_of(std::size_t i) const {
  std::vector<const Operation*> found;
  for (std::optional<std::size_t> at = results[i]; at; at = operations[*at].reads)
    found.push_back(&operations[*at]);
  std::ranges::reverse(found);
  return found;
}

const Fusion* find_fusion(std::span<const Operation> operations, bool decoding) {
  for (const Fusion& row : fusion_table()) {
    if ((row.as == nullptr) != decoding || row.stages.size() > operations.size()) continue;
    const auto matches = [&row](const Operation& operation, std::string_view stage) {
      return operation.stage->name == stage && operation.in.sample == row.sample &&
             operation.out.sample == row.sample &&
             !is_one_plane(*operation.stage, operation.in, operation.parameters);
    };
    if (std::ranges::equal(operations.first(row.stages.size()), row.stages, matches)) return &row;
  }
  return nullptr;
}

bool begins_with_gray(const Plan& plan) {
  if (plan.steps.empty() || plan.parts(0).size() > 1) return false;
  const auto reads_decoded = [](const Operation& operation) { return !operation.reads; };
  return plan.operations.front().stage->name == "gray" &&
         std::ranges::count_if(plan.operations, reads_decoded) == 1 &&
         std::ranges::all_of(plan.results, [](const auto& result) { return result.has_value(); });
}

std::string why_not_on_cuda(const Plan& plan) {
  if (!built_with_cuda()) return "";
  for (const Operation& operation : plan.operations) {
    const Sample in = operation.in.sample, out = operation.out.sample;
    if (find_kernel(*operation.stage, Backend::cuda, in, out) != nullptr) continue;
    return std::string(operation.stage->name) + " does not support " +
           std::to_string(8 * std::max(bytes_per_sample(in), bytes_per_sample(out))) +
           " bits per sample on CUDA devices";
  }
  return "";
}

}  // namespace imgpipe
