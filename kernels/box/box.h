// box: the mean of a square window, rounded once. smooth:box (radius 2) has separate kernels, specialised for
// 5x5 windows and for fusion with contrast. Running sums make the cost independent of the radius (McDonnell,
// Box-Filtering Techniques, 1981).
#pragma once

#include <type_traits>

#include "kernels/shared/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr int kMaxBoxRadius = 127;
struct BoxParameters {
  explicit constexpr BoxParameters(const Parameters& values)
      : radius(static_cast<int>(values[0])), border(values.as<Border>(1)) {}
  int radius;
  Border border;
};

// ---- the arithmetic, in integers ----------------------------------------------------------------------

// Window sums plus half their pixel count fit in 32 bits: 255 * 255 * 65535 + 255 * 255 / 2 < 2^32.
inline constexpr std::int64_t kMaxBoxPixels = std::int64_t{2 * kMaxBoxRadius + 1} * (2 * kMaxBoxRadius + 1);
static_assert(kMaxBoxPixels * 65535 + kMaxBoxPixels / 2 < (std::int64_t{1} << 32) - 1);

// Returns the mean of `pixels` samples, rounded half up: (2 sum + pixels) / (2 pixels).
IMGPIPE_HOST_DEVICE constexpr std::uint32_t box_mean(std::uint32_t sum, std::uint32_t pixels) {
  return (sum + pixels / 2) / pixels;
}

// Returns the number of pixels at 0..size-1 within `radius` of pixel i.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t counted(std::int64_t i, std::int64_t size, int radius) {
  const std::int64_t first = i < radius ? 0 : i - radius;
  const std::int64_t last = i + radius >= size ? size - 1 : i + radius;
  return static_cast<std::uint32_t>(last - first + 1);
}

// The greatest radius at which window sums of 8-bit samples plus half their pixel count fit in 16 bits.
inline constexpr int kMaxNarrowRadius = 7;
static_assert(15 * 15 * 255 + 15 * 15 / 2 < (1 << 16) - 1);

// box_mean() without division, for sums of 16 or 32 bits: floor((sum + add) * factor / 2^(bits + shift)). The
// following is about 32 bits, and holds for 16 as well. Let n be the number of pixels,
// 2^s <= n < 2^(s+1), u = 2^(32+s), and D = sum + n/2 < 2^32 - 1; floor(D / n) is required. Adjacent
// multiples of n around u are n apart, so one of them, u + e or u - e, has e <= 2^s.
//   u + e: factor = (u + e) / n. D factor / u exceeds D / n by D e / (u n) < 1 / n: the floor is the same.
//   u - e, e > 0: factor = (u - e) / n. (D + 1) factor / u is below (D + 1) / n by at most 1 / n, so it is at
//   least D / n and below (D + 1) / n: the floor is the same. (With n = 2^s, e = n.)
// Granlund and Montgomery, Division by Invariant Integers, 1994; Robison, N-bit Unsigned Division via N-bit
// Multiply-Add, 2005.
template <class Sum = std::uint32_t>
struct BoxDivisor {
  Sum add = 0;
  Sum factor = 0;
  int shift = 0;
};

template <class Sum = std::uint32_t>
constexpr BoxDivisor<Sum> box_divisor(std::uint32_t pixels) {
  int bits = 0;
  while (pixels >> (bits + 1) > 0) ++bits;
  constexpr std::uint64_t kMaxFactor = static_cast<Sum>(~Sum{0});
  const std::uint64_t unit = (kMaxFactor + 1) << bits;
  const std::uint64_t above = (unit + pixels - 1) / pixels;
  if (above <= kMaxFactor && above * pixels - unit <= std::uint64_t{1} << bits)
    return {static_cast<Sum>(pixels / 2), static_cast<Sum>(above), bits};
  const std::uint64_t below = unit / pixels;
  return {static_cast<Sum>(pixels / 2 + 1), static_cast<Sum>(below > kMaxFactor ? kMaxFactor : below), bits};
}

template <class Sum>
constexpr Sum divided_by(const BoxDivisor<Sum>& divisor, std::type_identity_t<Sum> sum) {
  const std::uint64_t product = std::uint64_t{static_cast<Sum>(sum + divisor.add)} * divisor.factor;
  return static_cast<Sum>(product >> (8 * sizeof(Sum)) >> divisor.shift);
}

static_assert(box_mean(12, 25) == 0 && box_mean(13, 25) == 1 && box_mean(65025U * 65535, 65025) == 65535);
static_assert(divided_by(box_divisor(65025), 65025U * 65535) == 65535);
static_assert(divided_by(box_divisor(65025), 32512) == 0 && divided_by(box_divisor(65025), 32513) == 1);
static_assert(divided_by(box_divisor(1), 65535) == 65535 && divided_by(box_divisor(1), 0) == 0);
static_assert(counted(0, 10, 3) == 4 && counted(5, 10, 3) == 7 && counted(1, 2, 100) == 2);

// ---- the stage --------------------------------------------------------------------------------------

// Returns the input rows of the windows of rows `out`, clipped to the image.
[[nodiscard]] RowRange box_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, at least 1x1.
void box_reference(const StageCall<Host>& call);

// The same in SIMD. Also accepts interleaved RGB. `in` must hold the rows that box_needs() returns for the
// band.
void box_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus box_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
