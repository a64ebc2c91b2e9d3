// Computes a sample's new value from the cumulative count at its old value, for equalize and clahe. 32-bit
// floats, each operation rounded separately, on host and device.
#pragma once

#include <cstdint>

#include "images/host_device.h"

namespace imgpipe {

// `others`: the number of samples above the least value that occurs; not 0.
IMGPIPE_HOST_DEVICE constexpr float equalize_scale(int max_value, std::uint64_t others) {
  return static_cast<float>(max_value) / static_cast<float>(others);
}

// Returns sum * scale rounded half to even, at most max_value. `sum`: the number of samples that are above
// the least value but not above the value to map.
IMGPIPE_HOST_DEVICE constexpr int equalized(std::uint64_t sum, float scale, int max_value) {
  // Floats from 2^23 to 2^24 are integers, so the addition rounds.
  constexpr float kRound = 8388608.0F;
#ifdef __CUDA_ARCH__  // nvcc would fuse the product and the sum
  const float value = __fadd_rn(__fmul_rn(static_cast<float>(sum), scale), kRound);
#else
  const float value = static_cast<float>(sum) * scale + kRound;
#endif
  const int rounded = static_cast<int>(value - kRound);
  return rounded > max_value ? max_value : rounded;
}

#ifndef __CUDA_ARCH__
static_assert(equalized(3, equalize_scale(255, 3), 255) == 255 && equalized(0, 1.0F, 255) == 0);
static_assert(equalized(1, equalize_scale(255, 2), 255) == 128);  // 127.5 rounds to even
static_assert(equalized(1, equalize_scale(255, 6), 255) == 42);   // 42.5
static_assert(equalized(1, equalize_scale(65535, 2), 65535) == 32768);
#endif

}  // namespace imgpipe
