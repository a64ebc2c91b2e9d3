// The stretch as a product that fits vectors of 16-bit lanes, for the host. With d = min(max(v - lo, 0),
// span) and white W, the result is floor(W d / span + 1/2).
//
// That sum is at least 1 / (2 span) below the next integer, so an excess of less than that is harmless. Let n
// be the number of fractional bits of the factor, q = W 2^n / span, and rest / span the fraction of q. The
// result is (d factor + round) >> n with
//
//   factor = q rounded up     round = 2^(n-1)           too much by at most span - rest, times 2^-n
//   factor = q rounded down   round = 2^(n-1) + rest    too much by at most rest, times 2^-n
//
// One of the two is below 2^(n-1) / span, because the lesser is at most span / 2, and span^2 < 2^n.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/shared/stretch.h"

namespace imgpipe {

// From 8 bits to 8, n = 16: a factor of at most 24 bits.
struct ByteStretchFactor {
  Sample8 lo;
  Sample8 span;
  std::uint16_t whole;     // factor / 2^16
  std::uint16_t fraction;  // factor mod 2^16
  std::uint16_t round;
};

// Requires hi > lo.
constexpr ByteStretchFactor byte_stretch_factor(int lo, int hi) {
  const auto span = static_cast<std::uint32_t>(hi - lo);
  std::uint32_t factor = 255U * 65536U / span;
  const std::uint32_t rest = 255U * 65536U % span;
  std::uint32_t round = 32768;
  if (rest != 0 && (span - rest) * span < 32768) {
    ++factor;
  } else {
    round += rest;
  }
  return {static_cast<Sample8>(lo), static_cast<Sample8>(span), static_cast<std::uint16_t>(factor >> 16),
          static_cast<std::uint16_t>(factor), static_cast<std::uint16_t>(round)};
}

// For 16-bit input or output, n = 32. Distances and span are shifted up until span has 16 bits, so that the
// factor is below 2: 1 and a fraction for 16-bit output, a fraction for 8-bit output. Errors are then at most
// the shifted span - rest, or rest. One of the two is still below 2^31 / span: the lesser is at most half the
// shifted span, and that times span is below 2^31.
struct WideStretchFactor {
  Sample16 lo;
  Sample16 span;
  int shift;
  std::uint16_t upper, lower;  // halves of the fraction
  std::uint16_t rest;          // added to 2^31
};

// Requires hi > lo.
template <class To>
constexpr WideStretchFactor wide_stretch_factor(int lo, int hi) {
  const auto span = static_cast<std::uint16_t>(hi - lo);
  const int shift = std::countl_zero(span);
  const auto shifted = static_cast<std::uint64_t>(span) << shift;
  constexpr std::uint64_t kDividend = std::uint64_t{kLargest<To>} << 32;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): clang-tidy 14 does not know what countl_zero() leaves
  std::uint64_t factor = kDividend / shifted;
  std::uint64_t rest = kDividend % shifted;
  if (rest != 0 && (shifted - rest) * span < std::uint64_t{1} << 31) {
    ++factor;
    rest = 0;
  }
  return {static_cast<Sample16>(lo),
          span,
          shift,
          static_cast<std::uint16_t>(factor >> 16),
          static_cast<std::uint16_t>(factor),
          static_cast<std::uint16_t>(rest)};
}

}  // namespace imgpipe
