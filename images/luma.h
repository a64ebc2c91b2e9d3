// The luma of one pixel (docs/pixels.md), for host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe {

enum class Luma { bt601, bt709, opencv };

// (r R + g G + b B + 2^(shift-1)) >> shift; the weights sum to 2^shift, so white stays white.
struct LumaWeights {
  std::uint32_t r, g, b;
  int shift;
};

IMGPIPE_HOST_DEVICE constexpr LumaWeights luma_weights(Luma luma) {
  if (luma == Luma::bt709) return {13933, 46871, 4732, 16};  // ITU-R BT.709-6, item 3.2
  if (luma == Luma::opencv) return {9798, 19235, 3735, 15};  // BT.601 as cv::cvtColor rounds it
  return {19595, 38470, 7471, 16};                           // ITU-R BT.601-7, 2.5.1, as Pillow rounds it
}

// Returns the luma of samples of type T; 32 bits hold the sum for either.
template <class T = Sample8>
IMGPIPE_HOST_DEVICE constexpr T luma_of(const LumaWeights& w, std::type_identity_t<T> r,
                                        std::type_identity_t<T> g, std::type_identity_t<T> b) {
  return static_cast<T>((w.r * r + w.g * g + w.b * b + (1U << (w.shift - 1))) >> w.shift);
}

static_assert(luma_of(luma_weights(Luma::bt601), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::bt709), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::opencv), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::bt601), 255, 0, 0) == 76);   // 4996725 + 32768 = 76.74 * 65536
static_assert(luma_of(luma_weights(Luma::bt601), 0, 255, 0) == 150);  // 9809850 + 32768 = 150.19 * 65536
static_assert(luma_of(luma_weights(Luma::bt601), 0, 0, 255) == 29);   // 1905105 + 32768 = 29.57 * 65536
static_assert(luma_of(luma_weights(Luma::bt709), 255, 0, 0) == 54);   // 3552915 + 32768 = 54.71 * 65536
static_assert(luma_of(luma_weights(Luma::opencv), 255, 0, 0) == 76);  // 2498490 + 16384 = 76.75 * 32768
static_assert(luma_of<Sample16>(luma_weights(Luma::bt601), 65535, 65535, 65535) == 65535);
static_assert(luma_of<Sample16>(luma_weights(Luma::opencv), 65535, 65535, 65535) == 65535);
static_assert(luma_of<Sample16>(luma_weights(Luma::bt601), 65535, 0, 0) == 19595);  // 19594.70
static_assert(luma_of<Sample16>(luma_weights(Luma::bt709), 0, 0, 65535) == 4732);   // 4731.93

// ---- for vector code ------------------------------------------------------------------------------------

// Returns the weights scaled to a shift of 16. From a shift of 15, this doubles every weight.
constexpr LumaWeights weights_of_16_bits(Luma luma) {
  const LumaWeights w = luma_weights(luma);
  const int more = 16 - w.shift;
  return {w.r << more, w.g << more, w.b << more, 16};
}

// Each weight is 256 high + low.
struct SplitWeights {
  std::uint16_t high[3], low[3];
};

constexpr SplitWeights split_weights(Luma luma) {
  const LumaWeights w = weights_of_16_bits(luma);
  const std::uint32_t all[3] = {w.r, w.g, w.b};
  SplitWeights split{};
  for (int i = 0; i < 3; ++i) {
    split.high[i] = static_cast<std::uint16_t>(all[i] >> 8);
    split.low[i] = static_cast<std::uint16_t>(all[i] & 0xFF);
  }
  return split;
}

// Returns true if neither sum of products with 8-bit samples can exceed 2^16.
constexpr bool fits(const SplitWeights& w) {
  return w.high[0] + w.high[1] + w.high[2] == 255 && w.low[0] + w.low[1] + w.low[2] == 256;
}
static_assert(fits(split_weights(Luma::bt601)) && fits(split_weights(Luma::bt709)) &&
              fits(split_weights(Luma::opencv)));

}  // namespace imgpipe
