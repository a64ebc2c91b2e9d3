// gray of 16-bit samples.
#include "images/luma.h"
#include "kernels/gray/gray.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;

// The luma is the upper half of the sum with weights_of_16_bits(), which fits in 32 bits: 65535 * 2^16 +
// 2^15. Per step, a lane converts 8 pixels: 3 or 4 loads of 16 bytes, a store of 16 bytes of luma, and for
// RGBA another of alpha. Warps walk as in RowSegments. No shared memory.
template <int Channels>
__global__ __launch_bounds__(kThreads) void gray16_kernel(Plane<const Sample16, Device> in,
                                                          Plane<Sample16, Device> out,
                                                          Plane<Sample16, Device> alpha,
                                                          LumaWeights weights) {
  for (RowSegments<1, kWideVectorPixels> at(in.width, in.height); at.inside(); at.next()) {
    const std::int64_t left = in.width - at.x();
    if (left <= 0) continue;
    std::uint32_t words[4 * Channels];
    load_vectors<Channels>(in.row(at.y()) + at.x() * Channels, words);
    std::uint32_t sums[kWideVectorPixels];
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      sums[k] = weights.r * wide_of(words, Channels * k) + weights.g * wide_of(words, Channels * k + 1) +
                weights.b * wide_of(words, Channels * k + 2) + (1U << 15);
    }
    std::uint32_t grey[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) grey[i] = pack_high(sums[2 * i], sums[2 * i + 1]);
    store_vector(out.row(at.y()) + at.x(), grey, left);
    if (Channels == 4) {
      std::uint32_t alphas[4];
      // Alpha of pixel k is the upper half of word 2k + 1.
#pragma unroll
      for (int i = 0; i < 4; ++i)
        alphas[i] = pack_high(words[(4 * i + 1) % (4 * Channels)], words[(4 * i + 3) % (4 * Channels)]);
      store_vector(alpha.row(at.y()) + at.x(), alphas, left);
    }
  }
}

}  // namespace

CudaStatus gray16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1, kWideVectorPixels>(launch, call.in.type, kThreads, kOneSegmentEach);
  const auto kernel = call.in.type.alpha ? gray16_kernel<4> : gray16_kernel<3>;
  kernel<<<grid, kThreads, 0, launch.stream>>>(call.in.plane<Sample16>(0), call.out.plane<Sample16>(0),
                                               call.out.plane<Sample16>(kAlphaPlane),
                                               weights_of_16_bits(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

}  // namespace imgpipe
