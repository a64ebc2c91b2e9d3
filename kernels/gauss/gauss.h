// The mean of the neighbourhood of a pixel, weighted with a Gauss function: one axis after the other, in
// integers (docs/pixels.md). The weights are whole numbers that sum to 65536, the same on every machine. The
// sums down the columns are rounded to 16 bits (of samples of 8 bits: 8 of them behind the point), those
// along the rows to samples.
#pragma once

#include "kernels/box/box.h"
#include "kernels/smooth/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr std::int64_t kLeastSigma = 300'000, kMostSigma = 40 * kDecimalOne;
struct GaussParameters {
  explicit constexpr GaussParameters(const Parameters& values)
      : sigma(values[0]), border(values[1] == 0 ? Border::reflect : Border::replicate) {}
  std::int64_t sigma;  // in millionths
  Border border;
};

// ---- the weights ------------------------------------------------------------------------------------

inline constexpr int kGaussBits = 16;  // weights sum to 1 << kGaussBits

// How far the weights reach: 3 sigma, rounded up.
constexpr int gauss_radius(std::int64_t sigma) {
  return static_cast<int>((3 * sigma + kDecimalOne - 1) / kDecimalOne);
}
inline constexpr int kMostGaussRadius = gauss_radius(kMostSigma);
inline constexpr int kMostGaussTaps = 2 * kMostGaussRadius + 1;

// Writes gauss_radius() + 1 weights, from the middle outwards.
void gauss_weights(std::int64_t sigma, std::uint32_t* to);
constexpr std::int64_t gauss_weights_bytes(std::int64_t sigma) {
  return (gauss_radius(sigma) + 1) * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

// ---- the arithmetic of one pixel --------------------------------------------------------------------

// Weighted samples of a column become 16 bits.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t column_rounded(std::uint32_t sum) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  return (sum + (1U << (kBits - 1))) >> kBits;
}
// Weighted columns become a sample.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t row_rounded(std::uint32_t sum) {
  constexpr int kBits = 2 * kGaussBits - 8 * static_cast<int>(sizeof(T));
  return (sum + (1U << (kBits - 1))) >> kBits;
}

static_assert(column_rounded<Sample>(255U << kGaussBits) == 65280 &&
              row_rounded<Sample>(65280U << 16) == 255);
static_assert(column_rounded<Sample16>(65535U << 16) == 65535 &&
              row_rounded<Sample16>(65535U << 16) == 65535);
static_assert(kMostGaussRadius == 120 && gauss_radius(300'000) == 1 && gauss_radius(1'000'001) == 4);

// ---- the stage --------------------------------------------------------------------------------------

[[nodiscard]] std::int64_t gauss_prepared_bytes(const FrameType& in, const Parameters& parameters);
void gauss_prepare(const FrameType& in, const Parameters& parameters, std::byte* to);
[[nodiscard]] RowRange gauss_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1; prepared: what gauss_prepare() wrote.
void gauss_reference(const StageCall<Host>& call);
void gauss16_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the band's rows and those above and below that count, as far as the image has
// them.
void gauss_cpu(const StageCall<Host>& call, const Band& band);
void gauss16_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus gauss_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gauss16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
