#include "app/report/text_columns.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace imgpipe {

std::string number(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return left ? text + space : space + text;
}

std::string with_separators(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t count, const std::string& what) {
  return with_separators(count) + " " + what + (count == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  // From 999,950 on, kB would round to 1000.0.
  return bytes < 999'950 ? number(static_cast<double>(bytes) / 1e3, 1) + " kB"
                         : number(static_cast<double>(bytes) / 1e6, 1) + " MB";
}

std::string exact_number(double value) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace imgpipe
