// The stretch from 8- or 16-bit samples to either, as a product of integers, for host and device.
#pragma once

#include <cstdint>

#include "kernels/shared/stretch.h"

namespace imgpipe {

// With d = min(max(v - lo, 0), span) and W = white of the output, the result is
//
//   floor(W d / span + 1/2)  =  floor((d factor + 2^32) / 2^33),   factor = floor(W 2^33 / span) + 1
//
// factor exceeds W 2^33 / span by more than 0 and at most 1. So the right side's quotient exceeds the left's
// by at most d / 2^33 <= span / 2^33, and by more than 0 for d > 0. The left side, (2 W d + span) / (2 span),
// is an integer (a half that rounds up) or at least 1 / (2 span) below the next one. As span < 2^16, span /
// 2^33 < 1 / (2 span), and both sides have the same floor. The sum stays below W 2^33 + d + 2^32 < 2^50; its
// upper word is that of the product, plus 1.
struct WideStretch {
  std::uint32_t lo, span;
  std::uint32_t factor_low, factor_high;  // words of the factor
};

// If hi <= lo, values are unchanged or converted to the other type, which equals the stretch of the full
// range.
template <class To, class From>
IMGPIPE_HOST_DEVICE constexpr WideStretch wide_stretch(int lo, int hi) {
  if (hi <= lo) {
    lo = 0;
    hi = kLargest<From>;
  }
  const auto span = static_cast<std::uint32_t>(hi - lo);
  const std::uint64_t factor = (std::uint64_t{kLargest<To>} << 33) / span + 1;
  return {static_cast<std::uint32_t>(lo), span, static_cast<std::uint32_t>(factor),
          static_cast<std::uint32_t>(factor >> 32)};
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t upper_word(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}

// `d`: the distance defined at WideStretch.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t stretched_distance(const WideStretch& f, std::uint32_t d) {
  return (upper_word(d, f.factor_low) + d * f.factor_high + 1) >> 1;
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t stretched_value(const WideStretch& f, std::uint32_t v) {
  const std::uint32_t d = v < f.lo ? 0 : v - f.lo;
  return stretched_distance(f, d > f.span ? f.span : d);
}

}  // namespace imgpipe
