#include "images/codecs/icc_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

// parametricCurveType, functions 0 to 4: Y = (aX + b)^g + e for X >= d, else cX + f.
std::optional<double> parametric(Bytes tag, double x) {
  constexpr std::array<std::size_t, 5> kCounts{1, 3, 4, 5, 7};
  const std::uint32_t kind = big_endian(tag, 8, 2);
  if (kind >= kCounts.size() || tag.size() < 12 + 4 * kCounts[kind]) return std::nullopt;
  std::array<double, 7> p{1, 1, 0, 0, 0, 0, 0};  // g a b c d e f
  for (std::size_t i = 0; i < kCounts[kind]; ++i) p[i] = icc_number(tag, 12 + 4 * i);
  const auto [g, a, b, c, d, e, f] = p;
  if (kind == 0) return exact_power(x, g);
  // Function 2 adds c in both parts.
  if (kind <= 2) return (a * x + b < 0 ? 0 : exact_power(a * x + b, g)) + c;
  return x >= d ? exact_power(std::max(a * x + b, 0.0), g) + e : c * x + f;
}

// curveType: identity, a gamma, or a table.
std::optional<double> tabulated(Bytes tag, double x) {
  const std::size_t count = big_endian(tag, 8, 4);
  if (count == 0) return x;
  if (tag.size() < 12 || (tag.size() - 12) / 2 < count) return std::nullopt;
  if (count == 1) return exact_power(x, big_endian(tag, 12, 2) / 256.0);
  const double at = x * static_cast<double>(count - 1);
  const auto index = std::min(static_cast<std::size_t>(at), count - 2);
  const double low = big_endian(tag, 12 + 2 * index, 2);
  const double high = big_endian(tag, 14 + 2 * index, 2);
  return (low + (high - low) * (at - static_cast<double>(index))) / 65535;
}

}  // namespace

Bytes icc_tag(Bytes profile, std::string_view signature) {
  constexpr std::size_t kHeaderBytes = 128, kEntryBytes = 12;
  const std::uint32_t tags = std::min(big_endian(profile, kHeaderBytes, 4), kMaxIccTags);
  for (std::uint32_t i = 0; i < tags; ++i) {
    const std::size_t entry = kHeaderBytes + 4 + i * kEntryBytes;
    if (!matches_at(profile, entry, signature)) continue;
    const std::size_t offset = big_endian(profile, entry + 4, 4);
    if (offset >= profile.size()) return {};
    return profile.subspan(offset,
                           std::min<std::size_t>(big_endian(profile, entry + 8, 4), profile.size() - offset));
  }
  return {};
}

double icc_number(Bytes bytes, std::size_t at) {
  return static_cast<std::int32_t>(big_endian(bytes, at, 4)) / 65536.0;
}

double exact_power(double x, double exponent) {
  constexpr double kLn2 = 0x1.62E42FEFA39EFp-1;
  if (exponent == 0) return 1;
  if (!(x > 0)) return exponent > 0 ? 0 : HUGE_VAL;
  int doublings = 0;
  double m = std::frexp(x, &doublings);
  if (m * m < 0.5) {
    m *= 2;
    --doublings;
  }
  // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172
  const double s = (m - 1) / (m + 1);
  double log = 0;
  for (int i = 25; i > 0; i -= 2) log = log * (s * s) + 1.0 / i;
  const double power = (doublings + 2 * s * log / kLn2) * exponent;
  if (!(std::abs(power) < 1000)) return power > 0 ? HUGE_VAL : 0;
  const double whole = std::floor(power + 0.5);
  const double rest = (power - whole) * kLn2;
  // e^rest, |rest| < 0.347
  double sum = 1;
  for (int i = 18; i > 0; --i) sum = sum * rest / i + 1;
  return std::ldexp(sum, static_cast<int>(whole));
}

std::optional<double> icc_curve_value(Bytes tag, double x) {
  if (matches_at(tag, 0, "para")) return parametric(tag, x);
  if (matches_at(tag, 0, "curv")) return tabulated(tag, x);
  return std::nullopt;
}

double srgb_encoded(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * exact_power(light, 1 / 2.4) - 0.055;
}

}  // namespace imgpipe
