// The stretch of one pixel (docs/pixels.md), for host and device.
#pragma once

#include <cstdint>

#include "kernels/pixel.h"

namespace imgpipe {

// A share of the pixels in millionths of a percent: 0.5 % is 500'000. Decimal fractions stay exact.
using MicroPercent = std::int64_t;
inline constexpr MicroPercent kOnePercent = 1'000'000;

// floor(N p / 100): how many pixels may be passed over at one end. Exact for N < 2^36.
IMGPIPE_HOST_DEVICE constexpr std::uint64_t clip_count(std::uint64_t pixels, MicroPercent p) {
  return pixels * static_cast<std::uint64_t>(p) / (100 * static_cast<std::uint64_t>(kOnePercent));
}

// v in lo..hi onto 0..255; hi <= lo leaves v as it is.
IMGPIPE_HOST_DEVICE constexpr Sample stretched(int v, int lo, int hi) {
  if (hi <= lo) return static_cast<Sample>(v);
  if (v <= lo) return 0;
  if (v >= hi) return kMaxSample;
  return static_cast<Sample>(((v - lo) * 2 * kMaxSample + (hi - lo)) / (2 * (hi - lo)));
}

static_assert(clip_count(1000, kOnePercent / 2) == 5);
static_assert(clip_count(199, kOnePercent / 2) == 0);
static_assert(stretched(50, 50, 200) == 0 && stretched(200, 50, 200) == 255 && stretched(0, 50, 200) == 0);
static_assert(stretched(125, 50, 200) == 128);  // (75*510 + 150) / 300 = 128.0: 127.5 rounds up
static_assert(stretched(51, 50, 200) == 2);     // 1.7 rounds to 2
static_assert(stretched(7, 9, 9) == 7 && stretched(7, 9, 3) == 7);

}  // namespace imgpipe
