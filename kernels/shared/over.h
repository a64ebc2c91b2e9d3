// One sample over another. The quotients are rounded half up; white is odd, so no tie occurs.
#pragma once

#include "kernels/pixel.h"

namespace imgpipe {

// Returns n / white for n of at most white * white. Pillow's DIV255 (libImaging).
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t divided_by_white(std::uint32_t n) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  n += 1U << (kBits - 1);
  return ((n >> kBits) + n) >> kBits;
}

template <class T>
IMGPIPE_HOST_DEVICE constexpr T over(T v, T alpha, T background) {
  constexpr std::uint32_t kWhite = kLargest<T>;
  return static_cast<T>(
      divided_by_white<T>(std::uint32_t{v} * alpha + std::uint32_t{background} * (kWhite - alpha)));
}
static_assert(over<Sample8>(200, 255, 3) == 200 && over<Sample8>(200, 0, 3) == 3);
static_assert(over<Sample8>(255, 128, 0) == 128 && over<Sample8>(1, 127, 0) == 0 &&
              over<Sample8>(1, 128, 0) == 1);
static_assert(over<Sample16>(65535, 65535, 0) == 65535 && over<Sample16>(1, 32767, 0) == 0 &&
              over<Sample16>(1, 32768, 0) == 1);

}  // namespace imgpipe
