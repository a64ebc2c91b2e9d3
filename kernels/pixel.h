// The arithmetic of one pixel: SPEC section 1, once, for host and device. Integers only; rounding is half
// up. Loops, tiles and vectors stand elsewhere and are never shared between the reference and the rest.
#pragma once

#include <array>
#include <cstdint>

#include "images/plane.h"

#ifdef __CUDACC__
#define IMGPIPE_HOST_DEVICE __host__ __device__
#else
#define IMGPIPE_HOST_DEVICE
#endif

namespace imgpipe {

inline constexpr int kBins = kMaxSample + 1;

// ---- gray ------------------------------------------------------------------------------------------

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

IMGPIPE_HOST_DEVICE constexpr Sample luma_of(const LumaWeights& w, Sample r, Sample g, Sample b) {
  return static_cast<Sample>((w.r * r + w.g * g + w.b * b + (1U << (w.shift - 1))) >> w.shift);
}

static_assert(luma_of(luma_weights(Luma::bt601), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::bt709), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::opencv), 255, 255, 255) == 255);
static_assert(luma_of(luma_weights(Luma::bt601), 255, 0, 0) == 76);   // 4996725 + 32768 = 76.74 * 65536
static_assert(luma_of(luma_weights(Luma::bt601), 0, 255, 0) == 150);  // 9809850 + 32768 = 150.19 * 65536
static_assert(luma_of(luma_weights(Luma::bt601), 0, 0, 255) == 29);   // 1905105 + 32768 = 29.57 * 65536
static_assert(luma_of(luma_weights(Luma::bt709), 255, 0, 0) == 54);   // 3552915 + 32768 = 54.71 * 65536
static_assert(luma_of(luma_weights(Luma::opencv), 255, 0, 0) == 76);  // 2498490 + 16384 = 76.75 * 32768

// ---- contrast --------------------------------------------------------------------------------------

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

// ---- smooth ----------------------------------------------------------------------------------------

enum class Window { box, triangle, gauss };
enum class Border { shrink, replicate, reflect };

inline constexpr int kRadius = 2;              // of the window
inline constexpr int kTaps = 2 * kRadius + 1;  // along one axis
using Taps = std::array<int, kTaps>;

// The window is the product of this row with itself.
IMGPIPE_HOST_DEVICE constexpr Taps window_taps(Window window) {
  if (window == Window::triangle) return {1, 2, 3, 2, 1};
  if (window == Window::gauss) return {1, 4, 6, 4, 1};
  return {1, 1, 1, 1, 1};
}

// The mean of pixels whose weighted sum is S and whose weights sum to n, rounded half up.
IMGPIPE_HOST_DEVICE constexpr Sample weighted_mean(std::uint32_t sum, std::uint32_t weights) {
  return static_cast<Sample>((2 * sum + weights) / (2 * weights));
}

// The coordinate inside 0..size-1 that stands for `i` beyond the border.
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

static_assert(weighted_mean(12, 25) == 0 && weighted_mean(13, 25) == 1);
static_assert(weighted_mean(128, 256) == 1 && weighted_mean(127, 256) == 0);
static_assert(weighted_mean(255U * 256, 256) == 255);
static_assert(replicated(-2, 5) == 0 && replicated(6, 5) == 4 && replicated(3, 5) == 3);
static_assert(reflected(-1, 5) == 1 && reflected(-2, 5) == 2 && reflected(5, 5) == 3 && reflected(6, 5) == 2);
static_assert(reflected(-2, 2) == 0 && reflected(3, 2) == 1 && reflected(2, 1) == 0);

}  // namespace imgpipe
