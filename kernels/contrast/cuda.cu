#include "kernels/contrast/contrast.h"
#include "kernels/shared/pointwise.cuh"
#include "kernels/shared/stretch_block.cuh"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads >= kBins);  // required by block_stretch_factor()

// Processes plane blockIdx.z. Every block computes lo, hi and the factor itself. This takes about a
// microsecond, in parallel; a separate kernel would take longer. Then each lane stretches 16 adjacent pixels
// at a time.
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

// Checks the factor against stretched() for every value, at the host's compile time. The compiler's step
// limit allows only some ranges here; a test covers all.
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
