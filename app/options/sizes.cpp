#include "app/options/sizes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "app/options/option_values.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kLargestAmount = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kPrefixes = "KMGT";
constexpr std::size_t kDecimals = 6;
constexpr std::int64_t kOneOfDecimals = 1'000'000;

enum class Kind { bytes, pixels };

std::int64_t power(std::int64_t base, std::size_t exponent) {
  std::int64_t value = 1;
  for (std::size_t i = 0; i < exponent; ++i) value *= base;
  return value;
}

// Returns the size of a unit, or nullopt if it is unknown.
std::optional<std::int64_t> unit_size(std::string_view text, Kind kind) {
  std::string unit(text);
  std::ranges::transform(unit, unit.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (unit.empty()) return 1;
  const std::size_t prefix = kPrefixes.find(unit.front());
  const std::size_t exponent = prefix == std::string_view::npos ? 0 : prefix + 1;
  if (exponent > 0) unit.erase(0, 1);
  if (kind == Kind::pixels) {
    const bool known = exponent > 0 && (unit.empty() || unit == "P");
    return known ? std::optional(power(1000, exponent)) : std::nullopt;
  }
  if (unit == "B") return power(1000, exponent);
  if (exponent > 0 && (unit.empty() || unit == "IB")) return power(1024, exponent);
  return std::nullopt;
}

// Parses decimal digits; kLargestAmount if the value overflows.
std::optional<std::int64_t> digits(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range ? kLargestAmount : value;
}

// Returns kLargestAmount if the value overflows, nullopt if the text is not an amount.
std::optional<std::int64_t> amount(std::string_view text, Kind kind) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<std::int64_t> unit = unit_size(text.substr(end), kind);
  const std::string_view number = text.substr(0, end);
  if (!unit || (end == text.size() && number.find('.') != std::string_view::npos)) return std::nullopt;
  return parse_decimal(number, *unit);
}

[[noreturn]] void refuse_amount(const std::string& option, const std::string& expected,
                                std::string_view text) {
  usage("--" + option + ": expected " + expected + ", got '" + printable(text) + "'");
}

}  // namespace

std::optional<std::int64_t> parse_decimal(std::string_view number, std::int64_t unit) {
  const std::size_t point = number.find('.');
  const std::optional<std::int64_t> whole = digits(number.substr(0, point));
  if (!whole) return std::nullopt;
  std::int64_t part = 0;
  if (point != std::string_view::npos) {
    std::string fraction(number.substr(point + 1));
    if (fraction.size() > kDecimals || !digits(fraction)) return std::nullopt;
    fraction.resize(kDecimals, '0');
    // At most 1024^4 times 10^6, which fits.
    part = unit * *digits(fraction) / kOneOfDecimals;
  }
  if (*whole > (kLargestAmount - part) / unit) return kLargestAmount;
  return *whole * unit + part;
}

std::int64_t parse_memory(const std::string& text, const std::string& option, std::int64_t min_megabytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  const std::optional<std::int64_t> bytes = amount(text, Kind::bytes);
  if (!bytes) refuse_amount(option, "an amount such as 500M, 1.5G, 64MiB or 100MB", text);
  if (*bytes > kMost) refuse_amount(option, "at most 1024T", text);
  if (*bytes < min_megabytes << 20)
    refuse_amount(option, "at least " + std::to_string(min_megabytes) + "M", text);
  return *bytes;
}

std::int64_t parse_pixels(std::string_view text, const std::string& option, std::int64_t most) {
  const std::optional<std::int64_t> pixels = amount(text, Kind::pixels);
  if (!pixels) refuse_amount(option, "a number of pixels such as 100000000, 100M, 47MP or 1.5GP", text);
  if (*pixels < 1 || *pixels > most) refuse_amount(option, "1 to " + std::to_string(most), text);
  return *pixels;
}

Shape parse_size(const std::string& text, const std::string& option) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) refuse_amount(option, "WIDTHxHEIGHT such as 640x480", text);
  return {parse_integer(option, std::string_view(text).substr(0, cross), 1, kMaxSide),
          parse_integer(option, std::string_view(text).substr(cross + 1), 1, kMaxSide), 3};
}

}  // namespace imgpipe
