#include "pipeline/statistics/exact.h"

#include <bit>
#include <cmath>

namespace imgpipe {
namespace {

constexpr int kMantissaBits = 53;

struct Wide256 {
  Uint128 high = 0, low = 0;
};

// Returns a negative number, 0 or a positive number for a < b, a == b or a > b.
int compare(const Wide256& a, const Wide256& b) {
  if (a.high != b.high) return a.high < b.high ? -1 : 1;
  if (a.low != b.low) return a.low < b.low ? -1 : 1;
  return 0;
}

Wide256 square(Uint128 value) {
  const Uint128 low = static_cast<std::uint64_t>(value);
  const Uint128 high = value >> 64;
  const Uint128 middle = low * high;  // occurs twice
  Wide256 product{high * high + (middle >> 63), low * low};
  const Uint128 part = middle << 65;
  product.low += part;
  if (product.low < part) ++product.high;
  return product;
}

Wide256 shifted(Uint128 value, int bits) {
  if (bits == 0) return {0, value};
  if (bits >= 128) return {value << (bits - 128), 0};
  return {value >> (128 - bits), value << bits};
}

// A positive double as an integer of 53 bits times 2^exponent.
struct Parts {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

Parts parts_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {static_cast<std::uint64_t>(std::ldexp(fraction, kMantissaBits)), exponent - kMantissaBits};
}

// Compares sqrt(radicand) / divisor with the midpoint of `below` and the next double. Exact: compares the
// squares.
int compare_to_middle_above(Uint128 radicand, std::uint64_t divisor, const Parts& below) {
  const Uint128 middle = 2 * Uint128{below.mantissa} + 1;  // times 2^(exponent - 1), which is negative
  return compare(shifted(radicand, -2 * (below.exponent - 1)), square(middle * divisor));
}

}  // namespace

double rounded_ratio(std::uint64_t numerator, std::uint64_t denominator) {
  if (numerator == 0) return 0;
  // The quotient has at least 63 bits; its last bit records whether there is a remainder.
  const int shift = 63 + std::countl_zero(numerator);
  const Uint128 scaled = Uint128{numerator} << shift;
  Uint128 quotient = scaled / denominator;
  if (scaled % denominator != 0) quotient |= 1;
  return std::ldexp(static_cast<double>(quotient), -shift);
}

double rounded_root(Uint128 radicand, std::uint64_t divisor) {
  if (radicand == 0) return 0;
  // The correct double or one next to it.
  auto root =
      static_cast<double>(std::sqrt(static_cast<long double>(radicand)) / static_cast<long double>(divisor));
  for (;;) {
    const Parts here = parts_of(root);
    const int above = compare_to_middle_above(radicand, divisor, here);
    if (above > 0 || (above == 0 && here.mantissa % 2 != 0)) {
      root = std::nextafter(root, HUGE_VAL);
      continue;
    }
    const double lower = std::nextafter(root, 0.0);
    const int below = compare_to_middle_above(radicand, divisor, parts_of(lower));
    if (below > 0 || (below == 0 && here.mantissa % 2 == 0)) return root;
    root = lower;
  }
}

}  // namespace imgpipe
