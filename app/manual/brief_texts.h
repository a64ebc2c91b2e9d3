// Descriptions of options in completions, for options whose help begins too vaguely.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

// The text is used for the option in every command that has it.
struct BriefText {
  std::string_view option;
  std::string_view text;
};
[[nodiscard]] std::span<const BriefText> brief_texts();
// Returns an empty text if the option has none; completions then use the first clause of its help.
[[nodiscard]] std::string_view brief_text(std::string_view option);

}  // namespace imgpipe
