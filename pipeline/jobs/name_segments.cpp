#include "pipeline/jobs/name_segments.h"

#include <algorithm>
#include <filesystem>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::usage, reason);
}

// Parses "n:05", the text between braces.
NameSegment field_of(std::string_view text) {
  constexpr int kMaxDigits = 18;
  const std::string whole = "'{" + printable(text) + "}'";
  NameSegment field{.is_field = true};
  const std::size_t colon = text.find(':');
  field.text = text.substr(0, colon);
  if (field.text.empty()) fail(whole + ": empty field name; {{ and }} stand for braces");
  if (colon == text.npos) return field;
  const std::string_view width = text.substr(colon + 1);
  const bool digits_only = width.find_first_not_of("0123456789") == width.npos;
  if (width.size() >= 2 && width.size() <= 3 && width.front() == '0' && digits_only)
    for (const char digit : width) field.digits = field.digits * 10 + (digit - '0');
  if (field.digits < 1 || field.digits > kMaxDigits)
    fail(whole + ": the width must be 0 followed by a number from 1 to " + std::to_string(kMaxDigits) +
         ", such as {n:05}");
  return field;
}

}  // namespace

std::vector<NameSegment> name_segments(std::string_view name) {
  std::vector<NameSegment> pieces;
  std::string text;
  const auto end_text = [&] {
    if (!text.empty()) pieces.push_back({.text = text});
    text.clear();
  };
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c != '{' && c != '}') {
      text += c;
    } else if (at + 1 < name.size() && name[at + 1] == c) {
      text += c;
      ++at;
    } else if (c == '}') {
      fail("} without {; }} stands for a brace");
    } else {
      const std::size_t close = name.find_first_of("{}", at + 1);
      if (close == name.npos || name[close] == '{') fail("{ without }; {{ stands for a brace");
      end_text();
      pieces.push_back(field_of(name.substr(at + 1, close - at - 1)));
      at = close;
    }
  }
  end_text();
  return pieces;
}

std::string as_text_of_name(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  return doubled;
}

std::string as_field_of_name(const NameSegment& field) {
  return "{" + field.text + (field.digits > 0 ? ":0" + std::to_string(field.digits) : "") + "}";
}

std::string padded_number(std::int64_t number, int digits) {
  std::string text = std::to_string(number);
  text.insert(0, std::max(static_cast<std::size_t>(digits), text.size()) - text.size(), '0');
  return text;
}

std::string name_of_page(const std::string& name, std::int64_t number) {
  std::string path;
  for (const NameSegment& piece : name_segments(name))
    path += piece.is_field ? padded_number(number, piece.digits) : piece.text;
  return path;
}

std::string directory_of_pages(const std::string& name) {
  std::string path;
  for (const NameSegment& piece : name_segments(name)) {
    if (piece.is_field) break;
    path += piece.text;
  }
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace imgpipe
