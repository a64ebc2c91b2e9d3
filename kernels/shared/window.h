// Windows around a pixel: rows, borders, and 5x5 weights and means (docs/pixels.md), for host and device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/frame.h"
#include "kernels/pixel.h"

namespace imgpipe {

enum class Window { box, triangle, gauss };
enum class Border { shrink, replicate, reflect };

inline constexpr int kRadius = 2;              // of the window
inline constexpr int kTaps = 2 * kRadius + 1;  // along one axis
using Taps = std::array<int, kTaps>;
// The maximum number of samples from one of a channel to the next: 1 in planes, 3 in interleaved RGB, which
// some CPU kernels accept.
inline constexpr int kMaxStep = 3;

// The window is the product of this row with itself.
IMGPIPE_HOST_DEVICE constexpr Taps window_taps(Window window) {
  if (window == Window::triangle) return {1, 2, 3, 2, 1};
  if (window == Window::gauss) return {1, 4, 6, 4, 1};
  return {1, 1, 1, 1, 1};
}

// Returns the mean, rounded half up, of pixels with the given weighted sum and total weight.
template <class T = Sample8>
IMGPIPE_HOST_DEVICE constexpr T weighted_mean(std::uint32_t sum, std::uint32_t weights) {
  return static_cast<T>((2 * sum + weights) / (2 * weights));
}

// Maps `i` to the nearest coordinate in 0..size-1.
IMGPIPE_HOST_DEVICE constexpr std::int64_t replicated(std::int64_t i, std::int64_t size) {
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

// Reflection at the centre of the edge pixel (OpenCV's BORDER_REFLECT_101), repeated as often as needed.
IMGPIPE_HOST_DEVICE constexpr std::int64_t reflected(std::int64_t i, std::int64_t size) {
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  i %= period;
  if (i < 0) i += period;
  return i < size ? i : period - i;
}

// Returns the coordinate to read for `i`, or -1 if the pixel is ignored (Border::shrink).
constexpr std::int64_t source_of(std::int64_t i, std::int64_t size, Border border) {
  if (border == Border::replicate) return replicated(i, size);
  if (border == Border::reflect) return reflected(i, size);
  return i >= 0 && i < size ? i : -1;
}

// Returns the input rows within `radius` of the output rows, limited to the image.
constexpr RowRange rows_within(std::int64_t height, int radius, const RowRange& out) {
  return {std::max<std::int64_t>(0, out.first - radius), std::min(height, out.end + radius)};
}

static_assert(weighted_mean(12, 25) == 0 && weighted_mean(13, 25) == 1);
static_assert(weighted_mean(128, 256) == 1 && weighted_mean(127, 256) == 0);
static_assert(weighted_mean(255U * 256, 256) == 255 && weighted_mean<Sample16>(65535U * 256, 256) == 65535);
static_assert(replicated(-2, 5) == 0 && replicated(6, 5) == 4 && replicated(3, 5) == 3);
static_assert(reflected(-1, 5) == 1 && reflected(-2, 5) == 2 && reflected(5, 5) == 3 && reflected(6, 5) == 2);
static_assert(reflected(-2, 2) == 0 && reflected(3, 2) == 1 && reflected(2, 1) == 0);

}  // namespace imgpipe
