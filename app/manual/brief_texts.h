// Descriptions of options in completions, for options whose help begins too vaguely.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

// Applies to the option of every command.
struct BriefText {
  std::string_view option;
  std::string_view text;
};
[[nodiscard]] std::span<const BriefText> brief_texts();
// Returns an empty text if there is none; then the first clause of the option's help is used.
[[nodiscard]] std::string_view brief_text(std::string_view option);

}  // namespace imgpipe
