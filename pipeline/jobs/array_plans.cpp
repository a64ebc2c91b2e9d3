#include "pipeline/jobs/array_plans.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/color_profiles.h"
#include "pipeline/memory_need.h"
#include "pipeline/threads/fork_mutex.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

// Directories of photographs have some dozens of shapes. The tables of a plan take up to some 100 KB.
constexpr std::size_t kMaxPlans = 128;
constexpr std::int64_t kMaxPlanBytes = std::int64_t{32} << 20;

bool makes_tensor(const StageRequest& request) {
  return request.stage->tensor != nullptr;
}

// The tensor that the last stage makes of an image of one pixel; none if it makes images.
std::optional<TensorType> tensor_of(const std::vector<StageRequest>& stages) {
  if (stages.empty() || !makes_tensor(stages.back())) return std::nullopt;
  const FrameType pixel{.width = 1, .height = 1, .color_channels = 3};
  return stages.back().stage->tensor(pixel, stages.back().parameters);
}

std::vector<StageRequest> with_flip(std::vector<StageRequest> stages) {
  const auto at = std::ranges::find_if(stages, makes_tensor);
  stages.insert(at, parse_stages("flip:horizontal").front());
  return stages;
}

// Returns the array for a result of this type: its elements are those of `tensor`, of any sample type.
ArrayType array_of_tensor(const TensorType& tensor, bool has_channels) {
  ArrayType type{.sample = tensor.sample,
                 .sides = tensor.dimensions(),
                 .has_channels = has_channels,
                 .frame = tensor.frame()};
  if (!has_channels) type.sides = {tensor.height, tensor.width, 1};
  return type;
}

}  // namespace

ArrayPlans::ArrayPlans(ArrayStages stages) : stages_(std::move(stages)), flipped_(with_flip(stages_.stages)) {
  const std::optional<TensorType> tensor = tensor_of(stages_.stages);
  if (tensor && stages_.layout && tensor->layout != *stages_.layout) {
    const std::string made(tensor->layout_name());
    throw Error(ErrorKind::usage, "layout: normalize makes " + made +
                                      "; use layout=None, or normalize:layout=" +
                                      std::string(tensor->layout == TensorLayout::nchw ? "nhwc" : "nchw"));
  }
}

std::optional<Sample> ArrayPlans::tensor_sample() const {
  const std::optional<TensorType> tensor = tensor_of(stages_.stages);
  return tensor ? std::optional(tensor->sample) : std::nullopt;
}

bool ArrayPlans::channels_first() const {
  const std::optional<TensorType> tensor = tensor_of(stages_.stages);
  return (tensor ? tensor->layout : stages_.layout.value_or(TensorLayout::nhwc)) == TensorLayout::nchw;
}

std::shared_ptr<const ArrayPlan> ArrayPlans::plan_for(const Shape& image, bool flip,
                                                      const ImageHeader& header) {
  const std::vector<StageRequest>& steps = flip ? flipped_ : stages_.stages;
  std::vector<StageRequest> bound;
  const SecondImage* profile = nullptr;
  if (header.icc) {
    bound = with_profile(steps, header);
    const auto icc =
        std::ranges::find(bound, "icc", [](const StageRequest& step) { return step.stage->name; });
    if (icc != bound.end()) profile = icc->image.get();
  }
  if (auto kept = find(image, flip, profile)) return kept;
  // Without the lock, so that threads make plans concurrently.
  auto plan = make(image, profile != nullptr ? bound : steps);
  keep({image, flip, profile, plan, table_bytes_of(plan->plan)});
  return plan;
}

std::shared_ptr<const ArrayPlan> ArrayPlans::find(const Shape& image, bool flip, const SecondImage* profile) {
  const std::lock_guard lock(fork_mutex());
  const auto found = std::ranges::find_if(kept_, [&](const Entry& entry) {
    return entry.image == image && entry.flip == flip && entry.profile == profile;
  });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->plan;
}

void ArrayPlans::keep(Entry entry) {
  std::list<Entry> surplus;  // destroyed without the lock
  std::list<Entry> added;
  added.push_back(std::move(entry));
  const std::lock_guard lock(fork_mutex());
  kept_bytes_ += added.front().bytes;
  kept_.splice(kept_.begin(), added);
  while (kept_.size() > 1 && (kept_.size() > kMaxPlans || kept_bytes_ > kMaxPlanBytes)) {
    kept_bytes_ -= kept_.back().bytes;
    surplus.splice(surplus.end(), kept_, std::prev(kept_.end()));
  }
}

std::shared_ptr<const ArrayPlan> ArrayPlans::plan_for_box(const Shape& image, const Box& box,
                                                          const ImageHeader& header) const {
  check_box(box, image);
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  std::vector<StageRequest> stages = parse_stages("crop:" + text(box.width) + "x" + text(box.height) + "+" +
                                                  text(box.left) + "+" + text(box.top));
  stages.insert(stages.end(), stages_.stages.begin(), stages_.stages.end());
  return make(image, with_profile(stages, header));
}

std::shared_ptr<const ArrayPlan> ArrayPlans::make(const Shape& image,
                                                  std::span<const StageRequest> stages) const {
  if (image.width < 1 || image.height < 1 || image.channels < 1 || image.channels > 4)
    throw Error(ErrorKind::usage, "image: expected at least 1x1 pixels and 1 to 4 channels, got " +
                                      std::to_string(image.width) + "x" + std::to_string(image.height) +
                                      " and " + std::to_string(image.channels));
  refuse_trim(stages);
  auto made = std::make_shared<ArrayPlan>();
  made->plan = make_plan(stages, image, stages_.fuse, stages_.max_pixels);
  if (made->plan.tensor) {
    made->result = array_of_tensor(*made->plan.tensor, true);
    return made;
  }
  const Shape& output = made->plan.output;
  const TensorType pixels{.channels = output.channels,
                          .height = output.height,
                          .width = output.width,
                          .layout = stages_.layout.value_or(TensorLayout::nhwc),
                          .sample = output.sample};
  made->result = array_of_tensor(pixels, output.channels > 1 || stages_.layout.has_value());
  made->splits = output.channels > 1 && pixels.layout == TensorLayout::nchw;
  return made;
}

}  // namespace imgpipe
