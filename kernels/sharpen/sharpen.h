// Sharpening by an unsharp mask: adds to a sample its difference from the Gaussian blur
// (shared/gauss_weights.h), times an amount. The image is mirrored beyond its border.
#pragma once

#include "kernels/shared/gauss_weights.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// ---- the arithmetic of one pixel, in integers ---------------------------------------------------------

inline constexpr int kAmountBits = 12;

struct SharpenParameters {
  explicit constexpr SharpenParameters(const Parameters& values)
      : amount(static_cast<std::uint32_t>(((values[0] << kAmountBits) + kDecimalOne / 2) / kDecimalOne)),
        threshold(static_cast<std::uint32_t>(values[2])),
        sigma(values[1]) {}
  std::uint32_t amount;  // in 4096ths, rounded
  std::uint32_t threshold;
  std::int64_t sigma;  // in millionths
};

// Returns a difference times the amount, rounded half up: 65535 * 40960 + 2048 < 2^32.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t sharpen_step(std::uint32_t size, std::uint32_t amount) {
  return (size * amount + (1U << (kAmountBits - 1))) >> kAmountBits;
}

// Moves v away from `blurred`, limited to black and white.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t sharpened(std::uint32_t v, std::uint32_t blurred,
                                                      std::uint32_t amount, std::uint32_t threshold) {
  const bool up = v >= blurred;
  const std::uint32_t size = up ? v - blurred : blurred - v;
  if (size <= threshold) return v;
  const std::uint32_t step = sharpen_step(size, amount);
  const std::uint32_t headroom = up ? kLargest<T> - v : v;
  const std::uint32_t taken = step < headroom ? step : headroom;
  return up ? v + taken : v - taken;
}

static_assert(sharpened<Sample8>(100, 90, 4096, 0) == 110 && sharpened<Sample8>(90, 100, 4096, 0) == 80);
static_assert(sharpened<Sample8>(250, 90, 4096, 0) == 255 && sharpened<Sample8>(9, 100, 4096, 0) == 0);
static_assert(sharpened<Sample8>(3, 2, 2048, 0) == 4 && sharpened<Sample8>(2, 3, 2048, 0) == 1);
static_assert(sharpened<Sample8>(100, 90, 4096, 10) == 100 && sharpened<Sample8>(100, 90, 4096, 9) == 110);
static_assert(sharpened<Sample16>(65535, 0, 40960, 0) == 65535 && sharpen_step(65535, 40960) == 655350);

// ---- the stage --------------------------------------------------------------------------------------

// An amount of 0 leaves the image unchanged.
[[nodiscard]] std::string_view sharpen_skip_reason(const FrameType& in, const Parameters& parameters);

// The weights of sigma, as gauss_table() writes them.
[[nodiscard]] std::int64_t sharpen_table_bytes(const FrameType& in, const Parameters& parameters);
void sharpen_table(const StageCall<Host>& call, const Band& band);
[[nodiscard]] RowRange sharpen_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1; table: the output of sharpen_table().
void sharpen_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the band's rows and those that sharpen_needs() adds.
void sharpen_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus sharpen_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
