// Conversion between sample types (docs/pixels.md), for host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/pixel.h"

namespace imgpipe {

// White is 1. The division is rounded once.
template <class From>
IMGPIPE_HOST_DEVICE constexpr float float_of(From v) {
  return static_cast<float>(v) / static_cast<float>(kLargest<From>);
}

// Clamps to 0..1, scales and rounds half up; NaN becomes 0.
template <class To>
IMGPIPE_HOST_DEVICE constexpr To integer_of(float v) {
  const float limited = v > 0.0F ? (v < 1.0F ? v : 1.0F) : 0.0F;
  const float scaled = limited * static_cast<float>(kLargest<To>);
  const auto below = static_cast<std::int32_t>(scaled);
  return static_cast<To>(scaled - static_cast<float>(below) >= 0.5F ? below + 1 : below);
}

// Rounds integers to the nearest (65535 = 257 * 255). Converting 8 bits to 16 and back is exact, as is
// converting either to floats and back.
template <class To, class From>
IMGPIPE_HOST_DEVICE constexpr To converted(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (kIsFloat<To>) {
    return float_of(v);
  } else if constexpr (kIsFloat<From>) {
    return integer_of<To>(v);
  } else if constexpr (kIsWide<To>) {
    return static_cast<To>(v * 257U);
  } else {
    return static_cast<To>((v * 255U + 32767U) / 65535U);
  }
}

static_assert(converted<Sample16>(Sample8{255}) == 65535 && converted<Sample16>(Sample8{1}) == 257);
static_assert(converted<Sample8>(Sample16{128}) == 0 && converted<Sample8>(Sample16{129}) == 1);
static_assert(converted<Sample8>(Sample16{65535}) == 255 && converted<Sample8>(Sample16{65407}) == 255 &&
              converted<Sample8>(Sample16{65406}) == 254);
static_assert(converted<float>(Sample8{255}) == 1 && converted<float>(Sample16{0}) == 0);
static_assert(converted<Sample8>(0.5F) == 128 && converted<Sample8>(-0.5F) == 0 &&
              converted<Sample16>(2.0F) == 65535);

}  // namespace imgpipe
