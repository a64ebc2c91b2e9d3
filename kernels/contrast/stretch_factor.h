// The stretch as products of 16-bit lanes, for the host. With d = min(max(v - lo, 0), span) and white W, the
// result is floor(W d / span + 1/2).
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/shared/stretch.h"

namespace imgpipe {

// From 8 bits to 8: the factor 255 / span = 2^shift (1 + f), f < 1; `fraction` is f 2^16, rounded up. With
// e = d 2^(8 + shift), which has 16 bits, the result is (e + floor(e fraction / 2^16) + 128) >> 8 for every
// span and distance: wide_stretch_test tries all.
struct ByteStretchFactor {
  Sample8 lo;
  Sample8 span;
  int shift;
  std::uint16_t fraction;
};

// Requires hi > lo.
constexpr ByteStretchFactor byte_stretch_factor(int lo, int hi) {
  const auto span = static_cast<unsigned>(hi - lo);
  const int shift = std::bit_width(255U / span) - 1;
  const unsigned factor = (255U * 65536U - 1) / (span << shift) + 1;
  return {static_cast<Sample8>(lo), static_cast<Sample8>(span), shift,
          static_cast<std::uint16_t>(factor - 65536)};
}

// For 16-bit input or output. Let q = W 2^32 / span, and rest / span its fraction. As W d / span + 1/2 is at
// least 1 / (2 span) below the next integer, an excess of less than that is harmless. The result is
// (d factor + round) >> 32 with
//
//   factor = q rounded up     round = 2^31           too much by at most span - rest, times 2^-32
//   factor = q rounded down   round = 2^31 + rest    too much by at most rest, times 2^-32
//
// Distances and span are shifted up until span has 16 bits, so that the factor is below 2: 1 and a fraction
// for 16-bit output, a fraction for 8-bit output. Errors are then at most the shifted span - rest, or rest.
// One of the two is below 2^31 / span: the lesser is at most half the shifted span, and that times span is
// below 2^31.
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
