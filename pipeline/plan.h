// From the stages that were asked for and the shape of an image to the steps that will run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/stage.h"

namespace imgpipe {

// Stage names separated by commas, in the order given, repeats allowed. Throws Error(usage) for an empty
// list, an empty name or one that is not in the stage table (it then lists the names).
[[nodiscard]] std::vector<const Stage*> parse_stages(std::string_view list);

// The selectable stages in the order of the table, as --stages would take them.
[[nodiscard]] std::string default_stages();

struct Step {
  const Stage* stage = nullptr;
  bool implicit = false;  // put in by the plan
  std::string label;      // unique in the plan: the name, "#2" if it runs again, "*" if implicit
  FrameType in;
  FrameType out;
  std::vector<Step> parts;  // of a fused step: the two that it stands for
};

struct Plan {
  Shape input;
  Shape output;
  StageOptions options;
  std::vector<Step> steps;
  std::vector<std::string> notes;  // what was left out and why
};

// Orders the steps for an image of shape `input`:
//   - gray on a grey image is left out;
//   - contrast gets a hist* where none stands right before it;
//   - split* and merge* go where a stage, or the output file, needs the other layout.
// Every step's shapes follow from the one before; the last one's is the image's to be written.
// With `fuse`, neighbours that the table has a fused stage for become one step.
[[nodiscard]] Plan make_plan(std::span<const Stage* const> stages, const Shape& input,
                             const StageOptions& options, bool fuse = false);

// The shape that make_plan() ends in, for the output format to be judged before any work.
[[nodiscard]] Shape planned_output(std::span<const Stage* const> stages, const Shape& input);

}  // namespace imgpipe
