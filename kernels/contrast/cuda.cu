#include "kernels/contrast/contrast.h"
#include "kernels/shared/pointwise.cuh"
#include "kernels/shared/stretch_block.cuh"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads >= kBins);  // block_stretch_factor()

// Plane blockIdx.z. Every block makes lo, hi and the factor for itself (about a microsecond, all blocks at
// once: less than a kernel of its own), then a lane stretches 16 adjacent pixels at a time.
IMGPIPE_POINTWISE_KERNEL contrast_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                         Histogram<Device> histogram, ContrastParameters parameters) {
  const Plane<const Sample8, Device> from = plane_of_block(in);
  const Plane<Sample8, Device> to = plane_of_block(out);
  map_words_after(from, to, [&] {
    const FloatStretch stretch =
        float_stretch(block_stretch_factor(histogram, parameters, static_cast<int>(blockIdx.z)));
    return [stretch](std::uint32_t word) { return stretch_word(word, stretch); };
  });
}

// The factor against the contract, for every pair of limits and every value, at compile time of the host. The
// compiler's step limit allows a part of it here; the whole is a test.
constexpr bool factor_is_exact(int lo, int hi) {
  for (int v = 0; v <= kMaxSample; ++v) {
    if (stretch_product(stretch_factor(lo, hi), v) >> 24 != stretched(v, lo, hi)) return false;
  }
  return true;
}
static_assert(factor_is_exact(0, 255) && factor_is_exact(0, 254) && factor_is_exact(3, 5) &&
              factor_is_exact(7, 8));
static_assert(factor_is_exact(10, 212) && factor_is_exact(100, 100) && factor_is_exact(200, 3));

}  // namespace

CudaStatus contrast_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  contrast_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), call.histogram, ContrastParameters(call.parameters));
  return cudaGetLastError();
}

}  // namespace imgpipe
