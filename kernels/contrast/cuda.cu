#include "kernels/contrast/contrast.h"
#include "kernels/contrast/stretch_block.cuh"

namespace imgpipe {
namespace {

// H200, 2026-11-20, 8773x5352 grey, us: 27.5 so; 30.9 with one vector a lane and 8 blocks. 2026-11-21,
// between buffers that are not in the cache: 30.9 so, and 28.9 a copy of the same bytes; loads that run
// ahead, the first before lo and hi are known: 29.8 to 35.5, but 6.6 against 6.0 at 640x426.
constexpr int kThreads = 256;  // at least kBins: block_stretch_factor()
constexpr int kBlocksPerMultiprocessor = 6;
constexpr int kVectors = 2;
static_assert(kThreads >= kBins);

// Plane blockIdx.z. Every block makes lo, hi and the factor for itself (about a microsecond, all blocks at
// once: less than a kernel of its own), then a lane stretches 16 adjacent pixels at a time.
__global__ __launch_bounds__(
    kThreads,
    fitting_blocks(kThreads, kBlocksPerMultiprocessor)) void contrast_kernel(DevicePlanes<const Sample> in,
                                                                             DevicePlanes<Sample> out,
                                                                             Histogram<Device> histogram,
                                                                             ContrastParameters parameters) {
  const Plane<const Sample, Device> from = plane_of_block(in);
  const Plane<Sample, Device> to = plane_of_block(out);
  const StretchFactor factor = block_stretch_factor(histogram, parameters, static_cast<int>(blockIdx.z));
  for (RowSegments<kVectors> at(from.width, from.height); at.inside(); at.next()) {
    const std::int64_t left = from.width - at.x();
    const Sample* source = from.row(at.y()) + at.x();
    Sample* target = to.row(at.y()) + at.x();
    uint4 vectors[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left > i * kSegmentPixels) vectors[i] = load_vector(source + i * kSegmentPixels);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      const std::uint32_t words[4] = {stretch_word(vectors[i].x, factor), stretch_word(vectors[i].y, factor),
                                      stretch_word(vectors[i].z, factor), stretch_word(vectors[i].w, factor)};
      store_vector(target + i * kSegmentPixels, words, left - i * kSegmentPixels);
    }
  }
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
  const auto planes = static_cast<unsigned>(call.in.type.color_channels);
  const dim3 grid(stride_blocks<kVectors>(launch, call.in.type, kThreads, kBlocksPerMultiprocessor), 1,
                  planes);
  contrast_kernel<<<grid, kThreads, 0, launch.stream>>>(
      {{call.in.plane<Sample>(0), call.in.plane<Sample>(1), call.in.plane<Sample>(2)}},
      {{call.out.plane<Sample>(0), call.out.plane<Sample>(1), call.out.plane<Sample>(2)}}, call.histogram,
      ContrastParameters(call.parameters));
  return cudaGetLastError();
}

}  // namespace imgpipe
