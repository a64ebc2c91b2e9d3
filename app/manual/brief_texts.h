// What completions say of an option where the beginning of its help says too little in a few words.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

// Of every command that has an option of that name.
struct BriefText {
  std::string_view option;
  std::string_view text;
};
[[nodiscard]] std::span<const BriefText> brief_texts();
// Empty: there is none, and its help begins with one.
[[nodiscard]] std::string_view brief_text(std::string_view option);

}  // namespace imgpipe
