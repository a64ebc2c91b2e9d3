// Histogram equalisation: each value becomes the share of samples that are not above it (Gonzalez and Woods,
// Digital Image Processing, 3.3.1), each colour plane by its own histogram. The rule is that of OpenCV's
// equalizeHist(), rounding by rounding (docs/pixels.md).
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// ---- the arithmetic: floats of 32 bits, each operation rounded by itself -------------------------------

// `others`: the samples above the least value that occurs; not 0.
IMGPIPE_HOST_DEVICE constexpr float equalize_scale(int max_value, std::uint64_t others) {
  return static_cast<float>(max_value) / static_cast<float>(others);
}

// sum * scale, rounded half to even; at most max_value. `sum` of those samples are not above the value.
IMGPIPE_HOST_DEVICE constexpr int equalized(std::uint64_t sum, float scale, int max_value) {
  // A float between 2^23 and 2^24 is an integer: the addition rounds.
  constexpr float kRound = 8388608.0F;
#ifdef __CUDA_ARCH__  // nvcc would make one instruction of a product and a sum
  const float value = __fadd_rn(__fmul_rn(static_cast<float>(sum), scale), kRound);
#else
  const float value = static_cast<float>(sum) * scale + kRound;
#endif
  const int rounded = static_cast<int>(value - kRound);
  return rounded > max_value ? max_value : rounded;
}

#ifndef __CUDA_ARCH__
static_assert(equalized(3, equalize_scale(255, 3), 255) == 255 && equalized(0, 1.0F, 255) == 0);
static_assert(equalized(1, equalize_scale(255, 2), 255) == 128);  // 127.5: the even one of both
static_assert(equalized(1, equalize_scale(255, 6), 255) == 42);   // 42.5
static_assert(equalized(1, equalize_scale(65535, 2), 65535) == 32768);
#endif

// ---- the stage --------------------------------------------------------------------------------------

// Its counts are those of the frame that it gets.
[[nodiscard]] bool equalize_reads_histogram(const Parameters& parameters);

// What each value of a plane becomes. counts: a counter for each value of a sample of type T, not all of them
// 0; table: room for as many samples. Values below the first that occurs become 0; where one value alone
// occurs all stay as they are.
template <class T>
void equalize_table(const std::uint64_t* counts, T* table);

// The tables of all colour planes, one behind the other.
[[nodiscard]] std::int64_t equalize_found_bytes(const FrameType& in, const Parameters& parameters);
void equalize_find(const FrameType& in, const Parameters& parameters, const Histogram<Host>& histogram,
                   std::byte* to);

// in, out: planar, same shape; histogram: the counts of the whole image `in`.
void equalize_reference(const StageCall<Host>& call);
void equalize16_reference(const StageCall<Host>& call);

// The same in SIMD; found: what equalize_find() wrote, if it did.
void equalize_cpu(const StageCall<Host>& call, const Band& band);
void equalize16_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; the tables are made there.
CudaStatus equalize_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus equalize16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
