#include "lab/bench/source_text.h"

#include <algorithm>
#include <cctype>

namespace imgpipe {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the offset after the comment, string or character that begins at `at`, or `at` if none does.
std::size_t after_opaque(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return std::min(text.find("*/", at + 2), text.size() - 2) + 2;
  const bool is_digits = at > 0 && is_word(text[at - 1]);  // 1'000
  if (text[at] != '"' && (text[at] != '\'' || is_digits)) return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

std::size_t line_start(std::string_view text, std::size_t at) {
  const std::size_t feed = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return feed == std::string_view::npos ? 0 : feed + 1;
}

// A declaration: the offsets of its block and of the parentheses before it.
struct Head {
  std::size_t open = std::string_view::npos;        // npos: no block
  std::size_t parameters = std::string_view::npos;  // the last ones not inside others
  std::size_t end = 0;                              // after the semicolon, if it has no block
};

Head head_of(std::string_view text, std::size_t at) {
  Head head;
  while (at < text.size()) {
    if (const std::size_t after = after_opaque(text, at); after != at) {
      at = after;
    } else if (text[at] == '(') {
      head.parameters = at;
      at = after_closing(text, at);
    } else if (text[at] == '{') {
      head.open = at;
      return head;
    } else if (text[at] == ';') {
      break;
    } else {
      ++at;
    }
  }
  head.end = std::min(at + 1, text.size());
  return head;
}

// Returns the name before the parentheses, with its class; or the name after "class" or "struct".
std::string_view name_of(std::string_view text, std::size_t start, const Head& head) {
  const std::string_view line = text.substr(start, head.open - start);
  for (const std::string_view kind : {"class ", "struct "}) {
    if (!line.starts_with(kind)) continue;
    std::size_t end = kind.size();
    while (end < line.size() && is_word(line[end])) ++end;
    return line.substr(kind.size(), end - kind.size());
  }
  if (head.parameters == std::string_view::npos) return {};
  std::size_t begin = head.parameters;
  while (begin > start && (is_word(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  return text.substr(begin, head.parameters - begin);
}

// Includes the comment, template and requires lines directly above.
std::size_t with_lines_above(std::string_view text, std::size_t start) {
  while (start > 0) {
    const std::size_t above = line_start(text, start - 1);
    const std::string_view line = text.substr(above, start - above);
    if (!line.starts_with("//") && !line.starts_with("template ") && !line.starts_with("requires")) break;
    start = above;
  }
  return start;
}

bool is_declaration(std::string_view line) {
  if (line.empty() || (!is_word(line.front()))) return false;
  return std::ranges::none_of(
      std::initializer_list<std::string_view>{"namespace", "using ", "static_assert", "template ", "requires",
                                              "extern ", "HWY_BEFORE", "HWY_AFTER", "HWY_EXPORT"},
      [&](std::string_view word) { return line.starts_with(word); });
}

}  // namespace

std::size_t after_closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size();) {
    if (const std::size_t after = after_opaque(text, at); after != at) {
      at = after;
      continue;
    }
    const char c = text[at++];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '}' || c == ']') && --depth == 0) return at;
  }
  return text.size();
}

std::vector<Definition> definitions_of(std::string_view text) {
  std::vector<Definition> found;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t feed = std::min(text.find('\n', start), text.size());
    if (!is_declaration(text.substr(start, feed - start))) {
      start = feed + 1;
      continue;
    }
    const Head head = head_of(text, start);
    if (head.open == std::string_view::npos) {
      start = std::max(head.end, feed + 1);
      continue;
    }
    const std::size_t end = after_closing(text, head.open);
    const std::size_t first = with_lines_above(text, start);
    if (const std::string_view name = name_of(text, start, head); !name.empty())
      found.push_back({name, text.substr(first, end - first), text.substr(head.open, end - head.open)});
    start = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return found;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t after = after_opaque(text, at); after != at) {
      at = after;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

}  // namespace imgpipe
