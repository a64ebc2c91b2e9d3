// From the steps that were asked for and the type of an image to the steps that will run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/frame.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

struct Fusion;

// A stage at work on one frame.
struct Operation {
  const Stage* stage = nullptr;
  Parameters parameters;
  // Unique in the plan: the name, "#2" if the stage runs again, what was not preset, "*" if the planner
  // inserted it.
  std::string label{};
  FrameType in{};
  FrameType out{};                                        // what the next operation gets
  std::optional<std::size_t> counted_by{};                // the operation whose histogram it reads
  std::shared_ptr<const std::vector<std::byte>> table{};  // that depends on type and parameters alone
  std::size_t step = 0;                                   // whose label and row its time goes to
};

// What reports show: an operation, or several that are fused.
struct Step {
  std::string label;  // of its operations, joined by "+"
};

struct Plan {
  Shape input;
  Shape output;
  std::vector<Operation> operations{};
  std::vector<Step> steps{};
  std::vector<std::string> notes{};  // what was left out and why
  bool reduced = false;              // the planner inserted the last depth:8 because the output holds no more

  // The operations of a step.
  [[nodiscard]] std::span<const Operation> parts(std::size_t step) const {
    return std::ranges::equal_range(operations, step, {}, &Operation::step);
  }
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
// operations that the table has a fused stage for become one step. Throws Error(usage) where a stage cannot
// work on samples of this type, naming the depth to insert, or on an image of this size, or makes an image
// without pixels or with sides of 2^31 and more, Error(input) where it makes one of more than `max_pixels`.
[[nodiscard]] Plan make_plan(std::span<const StageRequest> stages, const Shape& input, bool fuse = false,
                             std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max(),
                             int max_bits = 16);

// The row that the first operations match; nullptr: none. `decoding`: of those that decoders do.
[[nodiscard]] const Fusion* find_fusion(std::span<const Operation> operations, bool decoding);

// Which operation CUDA devices have no function for, with samples of that type: "gray has no function for 16
// bits a sample on CUDA devices". Empty: they have all, or this build has none at all.
[[nodiscard]] std::string why_not_on_cuda(const Plan& plan);

}  // namespace imgpipe
