// Brightness and saturation, as Pillow's ImageEnhance: the mean of a pixel and of black, or of its grey
// (gray:bt601), weighted by a factor, which extrapolates above 1. Each operation is rounded to a 32-bit
// float, and the result rounded down.
#pragma once

#include "images/luma.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// Returns from + factor (v - from), limited to black and white.
template <class T>
IMGPIPE_HOST_DEVICE constexpr T enhanced(int v, int from, float factor) {
#ifdef __CUDA_ARCH__  // nvcc would contract the product and the sum
  const float mixed = __fadd_rn(static_cast<float>(from), __fmul_rn(factor, static_cast<float>(v - from)));
#else
  const float mixed = static_cast<float>(from) + factor * static_cast<float>(v - from);
#endif
  constexpr auto kWhite = static_cast<float>(kLargest<T>);
  return static_cast<T>(mixed <= 0 ? 0 : mixed >= kWhite ? kWhite : mixed);
}

#ifndef __CUDA_ARCH__
static_assert(enhanced<Sample8>(10, 21, 0.5F) == 15 && enhanced<Sample8>(10, 20, 0) == 20);
static_assert(enhanced<Sample8>(10, 20, 2) == 0 && enhanced<Sample8>(200, 90, 2.5F) == 255);
static_assert(enhanced<Sample8>(220, 0, 1.05F) == 230);  // 231 for an exact 1.05
static_assert(enhanced<Sample16>(65535, 0, 100) == 65535);
#endif

[[nodiscard]] constexpr float enhance_factor(const Parameters& parameters) {
  return static_cast<float>(static_cast<double>(parameters[0]) / static_cast<double>(kDecimalOne));
}

// A factor of 1 leaves the image unchanged; saturation also skips grey images.
[[nodiscard]] std::string_view brightness_skip_reason(const FrameType& in, const Parameters& parameters);
[[nodiscard]] std::string_view saturation_skip_reason(const FrameType& in, const Parameters& parameters);

// For gamma's functions (kernels/gamma/gamma.h): the result of each value; gamma_table_bytes() bytes.
void brightness_table(const StageCall<Host>& call, const Band& band);

// in, out: planar, RGB, same shape.
void saturation_reference(const StageCall<Host>& call);

void saturation_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus saturation_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
