#include "app/jobs/glob.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxAlternatives = 1000;

// Returns the position of the ] that closes the bracket expression at `at`, or npos.
template <class Text>
std::size_t end_of_set(const Text& text, std::size_t at) {
  std::size_t i = at + 1;
  if (i < text.size() && (text[i] == '!' || text[i] == '^')) ++i;
  if (i < text.size() && text[i] == ']') ++i;
  for (; i < text.size(); ++i) {
    if (text[i] == '/') break;
    if (text[i] == ']') return i;
    if (text[i] == '\\') ++i;
    if (i + 1 < text.size() && text[i] == '[' && text[i + 1] == ':') {
      std::size_t end = i + 2;
      while (end + 1 < text.size() && (text[end] >= 'a' && text[end] <= 'z')) ++end;
      if (end + 1 < text.size() && text[end] == ':' && text[end + 1] == ']') i = end + 1;
    }
  }
  return Text::npos;
}

// Skips over bracket expressions and escaped characters.
template <class Text>
class Scan {
 public:
  explicit Scan(const Text& text) : text_(text) {}
  // Returns the last character of the item that begins at `at`.
  std::size_t skip(std::size_t at) {
    if (text_[at] == '\\') return at + 1;
    if (text_[at] != '[' || at < no_set_until_) return at;
    const std::size_t end = end_of_set(text_, at);
    if (end != Text::npos) return end;
    no_set_until_ = std::min(text_.find('/', at), text_.size());  // search once, not for every [
    return at;
  }

 private:
  const Text& text_;
  std::size_t no_set_until_ = 0;
};

struct Braces {
  std::size_t open = 0, close = 0;
  std::vector<std::size_t> commas;
};

// Finds the first braces from `from` on that directly contain a comma.
std::optional<Braces> first_braces(const std::string& text, std::size_t from) {
  std::vector<Braces> open;
  std::optional<Braces> first;
  Scan scan(text);
  for (std::size_t i = from; i < text.size(); i = scan.skip(i) + 1) {
    if (text[i] == '{') open.push_back({i, 0, {}});
    if (open.empty()) continue;
    if (text[i] == ',') open.back().commas.push_back(i);
    if (text[i] != '}') continue;
    open.back().close = i;
    const bool holds = !open.back().commas.empty();
    if (holds && (!first || open.back().open < first->open)) first = std::move(open.back());
    open.pop_back();
  }
  return first;
}

[[noreturn]] void refuse(const std::string& pattern, const std::string& reason) {
  throw Error(ErrorKind::usage, "'" + printable(pattern.substr(0, 100)) + "': " + reason);
}

// Expands `pattern`, first alternatives first; stops after kMaxAlternatives.
std::vector<std::string> expand(const std::string& pattern) {
  std::vector<std::string> found;
  std::vector<std::pair<std::string, std::size_t>> to_do{{pattern, 0}};  // text, and bytes already expanded
  while (!to_do.empty() && found.size() <= kMaxAlternatives) {
    auto [text, from] = std::move(to_do.back());
    to_do.pop_back();
    std::optional<Braces> braces = first_braces(text, from);
    if (!braces) {
      found.push_back(std::move(text));
      continue;
    }
    const std::string head = text.substr(0, braces->open);
    const std::string tail = text.substr(braces->close + 1);
    std::size_t end = braces->close;
    braces->commas.insert(braces->commas.begin(), braces->open);
    for (auto begin = braces->commas.rbegin(); begin != braces->commas.rend(); end = *begin++) {
      std::string one = head;
      one.append(text, *begin + 1, end - *begin - 1).append(tail);
      to_do.emplace_back(std::move(one), braces->open);
    }
  }
  return found;
}

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

// POSIX character classes, restricted to ASCII.
const Ranges* class_named(std::u32string_view name) {
  static const std::array<std::pair<std::u32string_view, Ranges>, 8> kClasses{{
      {U"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {U"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {U"digit", {{'0', '9'}}},
      {U"lower", {{'a', 'z'}}},
      {U"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {U"space", {{'\t', '\r'}, {' ', ' '}}},
      {U"upper", {{'A', 'Z'}}},
      {U"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  }};
  const auto found = std::ranges::find(kClasses, name, [](const auto& row) { return row.first; });
  return found == kClasses.end() ? nullptr : &found->second;
}

char32_t other_case(char32_t c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 'A';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
  return c;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& pattern) {
  if (pattern.size() > kMaxBytes)
    refuse(pattern, "pattern longer than " + std::to_string(kMaxBytes) + " bytes");
  std::vector<std::string> found = expand(pattern);
  if (found.size() > kMaxAlternatives)
    refuse(pattern, "pattern with more than " + std::to_string(kMaxAlternatives) + " alternatives");
  return found;
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = utf8_length(text, code_point);
    // Map invalid UTF-8 bytes beyond the last code point.
    characters += length > 0 ? char32_t{code_point} : 0x110000 + static_cast<std::uint8_t>(text.front());
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return characters;
}

std::vector<std::string> names_of_path(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t stop = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, stop - at);
    if (!name.empty() && name != ".") names.emplace_back(name);
    at = stop + 1;
  }
  return names;
}

GlobName::GlobName(std::string_view pattern, bool ends_path) : any_directories_(pattern == "**") {
  const std::u32string text = characters_of(pattern);
  Scan scan(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    Token token;
    const std::size_t end = scan.skip(i);
    if (text[i] == '*') {
      token.kind = Token::Kind::any_run;
      if (!tokens_.empty() && tokens_.back().kind == Token::Kind::any_run) continue;
    } else if (text[i] == '?') {
      token.kind = Token::Kind::any_one;
    } else if (text[i] == '[' && end > i) {
      read_set(std::u32string_view(text).substr(0, end), i + 1, token);
      i = end;
    } else {
      if (end > i && end < text.size()) i = end;
      token.value = text[i];
    }
    tokens_.push_back(std::move(token));
  }
  if (!ends_path) return;
  for (std::size_t i = tokens_.size(); i-- > 0;) {
    if (tokens_[i].kind != Token::Kind::one || tokens_[i].value != '.') continue;
    for (++i; i < tokens_.size(); ++i) tokens_[i].either_case = true;
    return;
  }
}

// Parses the content of the brackets, from `at` to the end of `pattern`.
void GlobName::read_set(std::u32string_view pattern, std::size_t at, Token& token) {
  token.kind = Token::Kind::set;
  token.negated = pattern[at] == '!' || pattern[at] == '^';
  if (token.negated) ++at;
  const auto next = [&] {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    return pattern[at++];
  };
  while (at < pattern.size()) {
    if (pattern.substr(at).starts_with(U"[:")) {
      const std::size_t stop = std::min(pattern.find(U":]", at), pattern.size());
      if (const Ranges* ranges = class_named(pattern.substr(at + 2, stop - at - 2)); ranges != nullptr) {
        token.ranges.insert(token.ranges.end(), ranges->begin(), ranges->end());
        at = stop + 2;
        continue;
      }
    }
    const char32_t first = next();
    char32_t last = first;
    if (at + 1 < pattern.size() && pattern[at] == '-') {
      ++at;
      last = next();
    }
    token.ranges.emplace_back(first, last);
  }
}

bool GlobName::takes(const Token& token, char32_t c) {
  const auto holds = [&](char32_t value) {
    if (token.kind == Token::Kind::one) return token.value == value;
    return std::ranges::any_of(
        token.ranges, [&](const auto& range) { return range.first <= value && value <= range.second; });
  };
  if (token.kind == Token::Kind::any_one) return true;
  return (holds(c) || (token.either_case && holds(other_case(c)))) != token.negated;
}

// Only the last * needs backtracking: everything before it has matched as early as possible.
bool GlobName::matches(std::u32string_view name) const {
  std::size_t token = 0;
  std::size_t at = 0;
  std::size_t run = tokens_.size();  // index of the last *, and where its match ends in the name
  std::size_t run_end = 0;
  while (at < name.size()) {
    if (token < tokens_.size() && tokens_[token].kind == Token::Kind::any_run) {
      run = token++;
      run_end = at;
    } else if (token < tokens_.size() && takes(tokens_[token], name[at])) {
      ++token;
      ++at;
    } else if (run < tokens_.size()) {
      token = run + 1;
      at = ++run_end;
    } else {
      return false;
    }
  }
  while (token < tokens_.size() && tokens_[token].kind == Token::Kind::any_run) ++token;
  return token == tokens_.size();
}

bool GlobName::begins_with_dot() const {
  return !tokens_.empty() && tokens_.front().kind == Token::Kind::one && tokens_.front().value == '.';
}

Glob::Glob(const std::string& pattern) : text_(pattern) {
  for (const std::string& text : expand_braces(pattern)) {
    Alternative alternative;
    const std::vector<std::string> names = names_of_path(text);
    if (names.empty()) continue;
    alternative.directories_only = text.ends_with('/') || text.ends_with("/.");
    const std::size_t slash = text.find('/');
    const std::size_t end_of_name = text.find_last_not_of('/') + 1;
    if (slash == std::string::npos || slash >= end_of_name) alternative.names.emplace_back("**", false);
    for (const std::string& name : names) {
      // Consecutive ** mean the same as one.
      if (name == "**" && !alternative.names.empty() && alternative.names.back().matches_any_depth())
        continue;
      alternative.names.emplace_back(name, &name == &names.back());
    }
    alternatives_.push_back(std::move(alternative));
  }
}

bool Glob::directories_only() const {
  return !alternatives_.empty() &&
         std::ranges::all_of(alternatives_, [](const Alternative& one) { return one.directories_only; });
}

// reached[i]: the pattern's names so far can match the first i names of the path.
bool Glob::matches(const Alternative& alternative, const Path& path, std::size_t length) {
  std::vector<bool> reached(length + 1, false);
  reached[0] = true;
  for (const GlobName& name : alternative.names) {
    if (name.matches_any_depth()) {
      const bool last = &name == &alternative.names.back();
      bool before = false;  // a prefix shorter than i was reached; a final ** matches at least one name
      for (std::size_t i = 0; i <= length; ++i) {
        const bool here = reached[i];
        reached[i] = before || (here && !last);
        before = before || here;
      }
    } else {
      for (std::size_t i = length; i > 0; --i) reached[i] = reached[i - 1] && name.matches(path[i - 1]);
      reached[0] = false;
    }
  }
  return reached[length];
}

bool Glob::matches(std::string_view path, bool is_directory) const {
  Path names;
  for (const std::string& name : names_of_path(path)) names.push_back(characters_of(name));
  return std::ranges::any_of(alternatives_, [&](const Alternative& one) {
    return (is_directory || !one.directories_only) && matches(one, names, names.size());
  });
}

bool Glob::matches_parent_of(std::string_view path) const {
  Path names;
  for (const std::string& name : names_of_path(path)) names.push_back(characters_of(name));
  for (std::size_t length = 1; length < names.size(); ++length) {
    if (std::ranges::any_of(alternatives_,
                            [&](const Alternative& one) { return matches(one, names, length); }))
      return true;
  }
  return false;
}

}  // namespace imgpipe
