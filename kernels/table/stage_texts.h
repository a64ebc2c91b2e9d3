// What `imgpipe help STAGE` and the man page say of a stage beside its row. docs/pixels.md says all of it, to
// the last rounding.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

struct Stage;

struct StageText {
  std::string_view stage;
  std::string_view rule;          // what becomes of a sample, in words and formulas
  std::string_view source = {};   // where the method is described; empty: nowhere
  std::string_view equals = {};   // which function of another library makes the same; empty: none is known
  std::string_view example = {};  // for --stages
};

// One for each stage that can be chosen, in the order of the table of stages.
[[nodiscard]] std::span<const StageText> stage_texts();
// nullptr for a stage that cannot be chosen.
[[nodiscard]] const StageText* stage_text(const Stage& stage);

}  // namespace imgpipe
