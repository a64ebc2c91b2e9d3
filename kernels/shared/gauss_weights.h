// Integer weights of a Gaussian function, and the arithmetic of one pixel (docs/pixels.md).
#pragma once

#include <cstdint>

#include "kernels/parameter_values.h"
#include "kernels/pixel.h"
#include "kernels/shared/window.h"

namespace imgpipe {

inline constexpr std::int64_t kMinSigma = 300'000, kMaxSigma = 40 * kDecimalOne;

inline constexpr int kGaussBits = 16;  // weights sum to 1 << kGaussBits

// The reach of the weights: 3 sigma, rounded up.
constexpr int gauss_radius(std::int64_t sigma) {
  return static_cast<int>((3 * sigma + kDecimalOne - 1) / kDecimalOne);
}
inline constexpr int kMaxGaussRadius = gauss_radius(kMaxSigma);
inline constexpr int kMaxGaussTaps = 2 * kMaxGaussRadius + 1;

// Writes gauss_radius() + 1 weights, from the centre outwards.
void gauss_weights(std::int64_t sigma, std::uint32_t* to);
constexpr std::int64_t gauss_weights_bytes(std::int64_t sigma) {
  return (gauss_radius(sigma) + 1) * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

// ---- the arithmetic of one pixel --------------------------------------------------------------------

// Rounds the weighted sum of a column to 16 bits.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t column_rounded(std::uint32_t sum) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  return (sum + (1U << (kBits - 1))) >> kBits;
}
// Rounds the weighted sum of columns to a sample.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t row_rounded(std::uint32_t sum) {
  constexpr int kBits = 2 * kGaussBits - 8 * static_cast<int>(sizeof(T));
  return (sum + (1U << (kBits - 1))) >> kBits;
}

static_assert(column_rounded<Sample8>(255U << kGaussBits) == 65280 &&
              row_rounded<Sample8>(65280U << 16) == 255);
static_assert(column_rounded<Sample16>(65535U << 16) == 65535 &&
              row_rounded<Sample16>(65535U << 16) == 65535);
static_assert(kMaxGaussRadius == 120 && gauss_radius(300'000) == 1 && gauss_radius(1'000'001) == 4);

}  // namespace imgpipe
