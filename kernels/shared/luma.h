// The luma of one pixel (docs/pixels.md), for host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/pixel.h"

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

}  // namespace imgpipe
