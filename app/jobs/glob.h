// Patterns of file names, as --include, --exclude and INPUT take them: those of gitignore(5), and braces.
//
//   *      any characters but /                     ?      one character but /
//   [a-z]  one of these, [!a-z] or [^a-z] one that is none of these; [[:digit:]] and its like
//   **     as a whole name: any number of folders, none too; at the end: everything below
//   {a,b}  a or b; may stand inside one another     \x     x itself
//
// Without a slash a pattern speaks of a name in any folder, with one of the path. A slash or ./ in front
// stands for the top folder; a slash at the end means folders only. Letters behind the last dot of the
// pattern (an ending) match in either case, so that *.jpg takes IMG_1.JPG.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe {

// What braces stand for: each alternative spelt out, in order, everything else as it was. Braces without a
// comma between them stand for themselves. Throws Error(usage) for a pattern of more than 4,096 bytes or
// 1,000 alternatives.
[[nodiscard]] std::vector<std::string> expand_braces(const std::string& pattern);

// A pattern of one name: no slash, no braces. Characters are those of UTF-8; a byte that is part of none is
// a character of its own. Time: at most the product of both lengths.
class GlobName {
 public:
  // `ends_path`: it stands last in its pattern, so that its ending matches in either case.
  GlobName(std::string_view pattern, bool ends_path);
  [[nodiscard]] bool matches(std::u32string_view name) const;
  [[nodiscard]] bool any_folders() const { return any_folders_; }  // **
  // * and its like take hidden names only where a pattern begins with the dot itself.
  [[nodiscard]] bool begins_with_dot() const;

 private:
  struct Token {
    enum class Kind { one, any_one, any_run, set } kind = Kind::one;
    char32_t value = 0;
    std::vector<std::pair<char32_t, char32_t>> ranges;  // first and last of each
    bool negated = false;
    bool either_case = false;
  };
  static void read_set(std::u32string_view pattern, std::size_t at, Token& token);
  static bool takes(const Token& token, char32_t c);

  std::vector<Token> tokens_;
  bool any_folders_ = false;
};

[[nodiscard]] std::u32string characters_of(std::string_view text);
// The names of a path, without the empty ones and those that are a dot.
[[nodiscard]] std::vector<std::string> names_of_path(std::string_view path);

class Glob {
 public:
  // Throws Error(usage) as expand_braces().
  explicit Glob(const std::string& pattern);
  [[nodiscard]] const std::string& text() const { return text_; }
  // True for patterns that speak of folders only, in each of their alternatives.
  [[nodiscard]] bool folders_only() const;

  // Whether the pattern names this path (relative; a slash in front does not count) itself.
  [[nodiscard]] bool matches(std::string_view path, bool is_folder) const;
  // Whether it names one of the folders that the path lies in.
  [[nodiscard]] bool matches_a_folder_of(std::string_view path) const;

 private:
  struct Alternative {
    std::vector<GlobName> names;
    bool folders_only = false;
  };
  using Path = std::vector<std::u32string>;
  [[nodiscard]] static bool matches(const Alternative& alternative, const Path& path, std::size_t length);

  std::string text_;
  std::vector<Alternative> alternatives_;
};

}  // namespace imgpipe
