// Turns requested steps into the steps that run on an image of a given type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

struct Step {
  const Stage* stage = nullptr;
  Parameters parameters;
  bool implicit = false;  // inserted by the planner
  // Unique in the plan: the name, "#2" if the stage runs again, StageRequest::said, "*" if implicit.
  std::string label{};
  FrameType in{};
  FrameType out{};                          // what steps that read it get
  std::optional<std::size_t> reads{};       // the step whose image it reads; none: the decoded one
  std::optional<std::size_t> counted_by{};  // the step whose histogram it reads
  std::vector<Step> parts{};                // of a fused step: the two that it stands for
  std::shared_ptr<const std::vector<std::byte>> table{};  // that depends on type and parameters alone
};

struct Plan {
  Shape input;
  Shape output;               // of the last result
  std::vector<Step> steps{};  // each after those that it reads
  // The step whose image each finished image is; none: the decoded one.
  std::vector<std::optional<std::size_t>> results{std::nullopt};
  std::vector<std::string> notes{};  // what was left out and why
  bool reduced = false;              // the planner inserted the last depth:8 because the output holds no more
};

// Plans the steps for an image of shape `input`:
//   - leaves out steps that would change nothing;
//   - inserts depth:float*, which is lossless, before a step that accepts floats but not its input's samples;
//   - inserts hist* before a step that reads a histogram of a frame not counted yet;
//   - inserts split* and merge* where a stage, or the output file, needs the other layout; stages that move
//     whole pixels accept both;
//   - inserts depth:8* at the end, before merge*, if the result has more than `max_bits` (8 or 16) bits per
//     sample; floats are unchanged.
// With `fuse`, neighbouring steps that have a fused stage become one step. Throws Error(usage) if a stage
// does not accept the sample type (the message names the depth to insert) or the size of its input, or makes
// an image without pixels or with a side of 2^31 or more; Error(input) if it makes more than `max_pixels`
// pixels.
[[nodiscard]] Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse = false,
                             std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max(),
                             int max_bits = 16);

// Plans several results of one decoded image: one for each list, in their order, all interleaved. A step that
// a list shares with an earlier list, from the decoded image on, runs once. Throws as parse_stages() and
// make_plan() do, with a message that names the list, and Error(usage) if there is no list.
[[nodiscard]] Plan make_branched_plan(std::span<const std::string_view> lists, const Shape& input,
                                      std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max());

// Returns the first step that CUDA devices do not support for its sample types; nullptr if they support all,
// or if this build has no CUDA.
[[nodiscard]] const Step* step_without_cuda(const Plan& plan);
// Returns why a plan with such a step cannot run on a CUDA device.
[[nodiscard]] std::string why_not_on_cuda(const Step& step);

}  // namespace imgpipe
