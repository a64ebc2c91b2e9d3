// Finds functions and classes by name in C++ text that clang-format has laid out.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace imgpipe {

// A function or class that begins in the first column, with the comment and template line above it.
struct Definition {
  std::string_view name;  // "gray_naive", "Groups::launch"
  std::string_view text;  // from its comment to its closing brace
  std::string_view body;  // from its opening brace on
};

// Returns definitions in the order of the file, which must outlive them.
[[nodiscard]] std::vector<Definition> definitions_of(std::string_view text);

// Returns the offset after the bracket of any kind that closes the one at `open`, or the text's end if none
// does. Skips comments, strings and characters.
[[nodiscard]] std::size_t after_closing(std::string_view text, std::size_t open);

// Returns every word that could be a name: letters, digits and underscores.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

}  // namespace imgpipe
