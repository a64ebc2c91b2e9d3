#include "app/options/name_ranges.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "images/error.h"
#include "images/text.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {
namespace {

constexpr std::uint64_t kMaxNames = 1'000'000;

struct NameRange {
  std::size_t begin = 0, end = 0;  // of "{A..B}" in the text
  std::int64_t first = 0, last = 0;
  int digits = 0;  // with leading zeros; 0: none

  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(first < last ? last - first : first - last) + 1;
  }
};

std::optional<std::int64_t> number_in(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_valid = error == std::errc() && end == digits.data() + digits.size() && digits.front() != '-';
  return is_valid ? std::optional(number) : std::nullopt;
}

std::optional<NameRange> first_range(std::string_view text) {
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find('}', open), dots = text.find("..", open);
    if (close == text.npos || dots == text.npos || dots > close) continue;
    const std::string_view a = text.substr(open + 1, dots - open - 1);
    const std::string_view b = text.substr(dots + 2, close - dots - 2);
    if (a.empty() || b.empty()) continue;
    const std::optional<std::int64_t> first = number_in(a), last = number_in(b);
    if (!first || !last) continue;
    const bool has_zeros = (a.size() > 1 && a.front() == '0') || (b.size() > 1 && b.front() == '0');
    return NameRange{open, close + 1, *first, *last,
                     has_zeros ? static_cast<int>(std::max(a.size(), b.size())) : 0};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> expand_ranges(const std::string& text) {
  std::error_code error;
  const std::optional<NameRange> range = first_range(text);
  if (!range || std::filesystem::exists(text, error)) return {text};
  const std::vector<std::string> ends = expand_ranges(text.substr(range->end));
  if (range->count() > kMaxNames / ends.size())
    throw Error(ErrorKind::usage, printable(text) + ": stands for more than " + std::to_string(kMaxNames) +
                                      " names; use a smaller range, or a pattern such as *.tar");
  std::vector<std::string> names;
  const std::int64_t step = range->first <= range->last ? 1 : -1;
  for (std::int64_t n = range->first; n != range->last + step; n += step) {
    for (const std::string& end : ends)
      names.push_back(text.substr(0, range->begin) + padded_number(n, range->digits) + end);
  }
  return names;
}

}  // namespace imgpipe
