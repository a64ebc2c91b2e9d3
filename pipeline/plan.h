// Turns requested steps into the steps that run on an image of a given type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/tensor.h"
#include "kernels/frame.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

struct Fusion;

// The application of a stage to a frame.
struct Operation {
  const Stage* stage = nullptr;
  Parameters parameters;
  // Unique in the plan: the name, "#2" if the stage runs again, StageRequest::said, "*" if the planner
  // inserted it.
  std::string label{};
  FrameType in{};
  FrameType out{};                          // the frame type that its readers receive
  std::optional<std::size_t> reads{};       // the operation whose image it reads; none: the decoded one
  std::optional<std::size_t> counted_by{};  // the operation whose histogram it reads
  std::shared_ptr<const std::vector<std::byte>> table{};  // a constant table: depends on type and parameters
  std::size_t step = 0;                                   // index in Plan::steps; that step reports its time
};

// A row of the report: an operation, or several that are fused.
struct Step {
  std::string label;  // of its operations, joined by "+"
};

struct Plan {
  Shape input;
  Shape output;                         // of the last result
  std::optional<TensorType> tensor{};   // if the last result is a tensor; output is then tensor->frame()
  std::vector<Operation> operations{};  // each after those that it reads
  std::vector<Step> steps{};
  // For each result, the operation that makes its image; none: the decoded image.
  std::vector<std::optional<std::size_t>> results{std::nullopt};
  std::vector<std::string> notes{};  // the omitted steps and the reasons
  bool reduced = false;  // the planner inserted the last depth:8 of a result because the output holds no more

  // Returns the shape of result `i`.
  [[nodiscard]] Shape shape_of_result(std::size_t i) const {
    return results[i] ? shape_of(operations[*results[i]].out) : input;
  }
  // Returns the operations that result `i` passes through, in order.
  [[nodiscard]] std::vector<const Operation*> operations_of(std::size_t i) const;

  // Returns the operations of a step.
  [[nodiscard]] std::span<const Operation> parts(std::size_t step) const {
    return {std::ranges::lower_bound(operations, step, {}, &Operation::step),
            std::ranges::upper_bound(operations, step, {}, &Operation::step)};
  }
};

// Plans the steps for an image of shape `input`:
//   - leaves out steps that would change nothing;
//   - inserts depth:float*, which is lossless, before a step that accepts floats but not its input's samples;
//   - inserts the step that completes another one (Stage::followed_by), as pad* after resize:fit=contain;
//   - inserts hist* before a step that reads a histogram of a frame not counted yet; it counts the samples of
//     all colour planes together where that step needs only their sum (Stage::sums_planes), the frame is
//     interleaved and has no alpha, and neither `counts_planes` nor `fuse` is set;
//   - inserts split* and merge* where a stage, or the output file, needs the other layout; stages that move
//     whole pixels accept both, those that map samples (Stage::maps_samples) without alpha;
//   - inserts depth:8* at the end, before merge*, if the result has more than `max_bits` (8 or 16) bits per
//     sample; if `max_bits` is 0, the output stores only floats, so depth:float* is inserted after integers.
//     Floats and tensors are unchanged.
// With `fuse`, operations that a fused stage runs become one step. Throws Error(usage) if a stage
// does not accept the sample type (the message names the depth to insert) or the size of its input, or makes
// an image without pixels or with a side of 2^31 or more; Error(input) if it makes more than `max_pixels`
// pixels; Error(memory) if a constant table needs more memory than is available.
[[nodiscard]] Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse = false,
                             std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max(),
                             int max_bits = 16, bool counts_planes = false);

// Plans one interleaved result for each branch, in order, all from one decoded image. Operations that a
// branch has in common with the start of an earlier one run once. Nothing is fused. Throws as make_plan()
// does, with a message that begins with the name of the branch, and Error(usage) if there are none.
[[nodiscard]] Plan make_branched_plan(std::span<const StageBranch> branches, const Shape& input,
                                      std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max(),
                                      int max_bits = std::numeric_limits<int>::max(),
                                      bool counts_planes = false);
// The same for lists of stages without second images, by parse_branches(). Throws also as parse_stages()
// does.
[[nodiscard]] Plan make_branched_plan(std::span<const std::string_view> lists, const Shape& input,
                                      std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max());

// Returns the row of fusion_table() that matches the first operations; nullptr if none does. `decoding`:
// searches only the decoder's rows, otherwise only the others.
[[nodiscard]] const Fusion* find_fusion(std::span<const Operation> operations, bool decoding);

// Returns whether the plan begins with gray, and nothing else uses the decoded image.
[[nodiscard]] bool begins_with_gray(const Plan& plan);

// Returns why the plan cannot run on a CUDA device: the first operation that is not supported for its sample
// types. Empty if all are, or if this build has no CUDA.
[[nodiscard]] std::string why_not_on_cuda(const Plan& plan);

}  // namespace imgpipe
