// Patterns of file names for --include, --exclude and INPUT: those of gitignore(5), plus braces.
//
//   *      any characters but /                     ?      one character but /
//   [a-z]  one of these; [!a-z] or [^a-z]: one that is none of these; also [[:digit:]] and the like
//   **     as a whole name: any number of directories, also none; at the end: everything below
//   {a,b}  a or b; may be nested                    \x     x itself
//
// A pattern without a slash matches a name in any directory; with a slash it matches the path. A leading
// slash or ./ anchors it to the top directory. A trailing slash matches directories only. Letters after the
// pattern's last dot match in either case, so *.jpg matches IMG_1.JPG.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe {

// Expands braces into all alternatives, in order. Braces without a comma stay literal. Throws Error(usage)
// for a pattern of more than 4,096 bytes or 1,000 alternatives.
[[nodiscard]] std::vector<std::string> expand_braces(const std::string& pattern);

// A pattern for one name: no slash, no braces. It matches UTF-8 characters; an invalid byte counts as one
// character. The time is at most proportional to the product of both lengths.
class GlobName {
 public:
  // `ends_path`: the last name of a pattern, whose ending matches in either case.
  GlobName(std::string_view pattern, bool ends_path);
  [[nodiscard]] bool matches(std::u32string_view name) const;
  [[nodiscard]] bool matches_any_depth() const { return any_directories_; }  // **
  // Wildcards match hidden names only if the pattern starts with a dot.
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
  bool any_directories_ = false;
};

[[nodiscard]] std::u32string characters_of(std::string_view text);
// Returns the names of a path, without empty names and ".".
[[nodiscard]] std::vector<std::string> names_of_path(std::string_view path);

class Glob {
 public:
  // Throws Error(usage) like expand_braces().
  explicit Glob(const std::string& pattern);
  [[nodiscard]] const std::string& text() const { return text_; }
  // Returns true if every alternative matches directories only.
  [[nodiscard]] bool directories_only() const;

  // Returns true if the pattern matches this relative path itself; a leading slash is ignored.
  [[nodiscard]] bool matches(std::string_view path, bool is_directory) const;
  // Returns true if it matches a directory that contains the path.
  [[nodiscard]] bool matches_parent_of(std::string_view path) const;

 private:
  struct Alternative {
    std::vector<GlobName> names;
    bool directories_only = false;
  };
  using Path = std::vector<std::u32string>;
  [[nodiscard]] static bool matches(const Alternative& alternative, const Path& path, std::size_t length);

  std::string text_;
  std::vector<Alternative> alternatives_;
};

}  // namespace imgpipe
