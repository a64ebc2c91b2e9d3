// From the steps that were asked for and the type of an image to the steps that will run.
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
  bool implicit = false;  // put in by the plan
  // Unique in the plan: the name, "#2" if the stage runs again, what was not preset, "*" if implicit.
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

// Orders the steps for an image of shape `input`:
//   - a step that would change nothing is left out;
//   - a step that takes floats but not the samples of its input is preceded by depth:float*, which loses
//     nothing;
//   - a step that reads a histogram gets a hist* where the frame that it gets is not counted yet;
//   - split* and merge* go where a stage, or the output file, needs the other layout; stages that move whole
//     pixels need neither;
//   - where the finished image has more than `max_bits` a sample, 8 or 16, depth:8* comes last but for
//     merge*; floats stay.
// Every step's types follow from the one before; the last one's is the image's to be written. With `fuse`,
// neighbours that the table has a fused stage for become one step. Throws Error(usage) where a stage cannot
// work on samples of this type, naming the depth to insert, or on an image of this size, or makes an image
// without pixels or with sides of 2^31 and more, Error(input) where it makes one of more than `max_pixels`.
[[nodiscard]] Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse = false,
                             std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max(),
                             int max_bits = 16);

// Plans several results of one decoded image: one for each list, all interleaved and in the order of the
// lists. A step that a list shares with an earlier one, from the decoded image on, runs once. Throws as
// parse_stages() and make_plan() do, with a message that names the list, and Error(usage) without lists.
[[nodiscard]] Plan make_branched_plan(std::span<const std::string_view> lists, const Shape& input,
                                      std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max());

// The first step that a CUDA device has no function for, with samples of that type; nullptr: it has all of
// them, or this build has none at all.
[[nodiscard]] const Step* step_without_cuda(const Plan& plan);
// Why a plan with such a step does not go to a CUDA device: "gray has no function for 16 bits a sample on
// CUDA devices".
[[nodiscard]] std::string why_not_on_cuda(const Step& step);

}  // namespace imgpipe
