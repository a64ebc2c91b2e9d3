// What `imgpipe help STAGE` and the man page state about a stage in addition to its row. docs/pixels.md
// specifies the rules completely.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

struct Stage;

struct StageText {
  std::string_view stage;
  std::string_view rule;          // how a sample changes, in words and formulas
  std::string_view source = {};   // describes the method; empty: no publication
  std::string_view equals = {};   // a function of another library with the same result; empty: none is known
  std::string_view example = {};  // for --stages
};

// One per selectable stage, in the order of the table of stages.
[[nodiscard]] std::span<const StageText> stage_texts();
// Returns nullptr for a stage that is not selectable.
[[nodiscard]] const StageText* stage_text(const Stage& stage);

}  // namespace imgpipe
