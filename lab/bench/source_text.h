// What a source file of this project defines: enough of C++ to find functions and classes by name in text
// that clang-format has laid out.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace imgpipe {

// A function or a class that begins in the first column, with the comment and the template line above it.
struct Definition {
  std::string_view name;  // "gray_naive", "Groups::launch"
  std::string_view text;  // from its comment to its closing brace
  std::string_view body;  // from its opening brace on
};

// In the order of the file, which must outlive them.
[[nodiscard]] std::vector<Definition> definitions_of(std::string_view text);

// Behind the brace, bracket or parenthesis that closes the one at `open`; the text's end where none does.
// Comments, strings and characters are passed over.
[[nodiscard]] std::size_t behind_closing(std::string_view text, std::size_t open);

// Every word of the text that could be a name: letters, digits and underscores.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

}  // namespace imgpipe
