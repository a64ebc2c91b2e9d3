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
// Returns empty if there is none: the help's first clause is used.
[[nodiscard]] std::string_view brief_text(std::string_view option);

}  // namespace imgpipe
