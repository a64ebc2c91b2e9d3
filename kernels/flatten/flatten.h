// The image on an opaque colour: Pillow's paste(image, mask=alpha) on an image of that colour. With samples
// of 16 bits, the same division by 65535. The quotients are rounded half up; white is odd, so no tie occurs.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/color.h"
#include "kernels/stage_call.h"

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

// The colour must be opaque.
[[nodiscard]] std::string_view flatten_problem(const Parameters& parameters);
// Skips images without alpha.
[[nodiscard]] std::string_view flatten_skip_reason(const FrameType& in, const Parameters&);
// The output has no alpha.
[[nodiscard]] std::string_view flatten_infer(const FrameType& in, const Parameters&, FrameType& out);

// in: planar with alpha; out: its colour planes.
void flatten_reference(const StageCall<Host>& call);

void flatten_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus flatten_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
