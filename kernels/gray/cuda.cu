#include "kernels/gray/gray.h"
#include "kernels/shared/shared_counters.cuh"

namespace imgpipe {
namespace {

// H200, 2026-11-20, 8773x5352 RGB, us: one segment per warp 49.2; more strided blocks than are resident 61.
constexpr int kThreads = 256;
// With the histogram: 32 KiB of counters per block, strided blocks. 2026-11-22, buffers not in the cache, us:
// 50.5 with 2 blocks per multiprocessor, 51.2 with 3 (40 registers); 50.7 with 2 blocks of 768 threads, 50.6
// with 1 of 1024. As in hist, clearing the counters with a kernel and launching this one early (0.4 to 0.9
// less) was rejected.
constexpr int kCountingThreads = 512;
constexpr int kBlocksPerMultiprocessor = 6;

// Returns the target number of resident blocks per multiprocessor: as many as registers allow without
// spilling.
template <int Channels, bool Count>
constexpr int resident_blocks() {
  if (Count) return 2;
  return Channels == 3 ? kBlocksPerMultiprocessor : 1;
}

// The weights scaled to a shift of 16, so that the luma is byte 2 of the sum, and split for dot products of
// bytes: weight = 256 high + low, with r, g and b in bytes 0, 1 and 2. The fourth byte has weight 0.
struct PackedWeights {
  std::uint32_t low, high;
};
constexpr int kShift = 16;

PackedWeights packed_weights(Luma luma) {
  const LumaWeights w = luma_weights(luma);
  const std::uint32_t r = w.r << (kShift - w.shift);
  const std::uint32_t g = w.g << (kShift - w.shift);
  const std::uint32_t b = w.b << (kShift - w.shift);
  return {(r & 0xFF) | (g & 0xFF) << 8 | (b & 0xFF) << 16, r >> 8 | (g >> 8) << 8 | (b >> 8) << 16};
}

// Returns the packed luma of pixels 4i..4i+3 of a lane's 16 interleaved pixels `words`. Takes two dot
// products per pixel; extracting the bytes and multiplying them took three instructions each.
template <int Channels>
__device__ __forceinline__ std::uint32_t four_lumas(const std::uint32_t (&words)[4 * Channels], int i,
                                                    const PackedWeights& w) {
  std::uint32_t sums[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    // Four RGB pixels are three words, the last pixel in bytes 1 to 3 of the third.
    const std::uint32_t* from = words + Channels * i;
    const bool last = Channels == 3 && k == 3;
    const std::uint32_t pixel = Channels == 4 ? from[k % Channels]
                                : k == 1      ? __byte_perm(from[0], from[1], 0x6543)
                                : k == 2      ? __byte_perm(from[1], from[2], 0x5432)
                                : last        ? from[2]
                                              : from[0];
    sums[k] = 256 * __dp4a(pixel, last ? w.high << 8 : w.high, 0U) +
              __dp4a(pixel, last ? w.low << 8 : w.low, 1U << (kShift - 1));
  }
  return pack_bytes<2>(sums[0], sums[1], sums[2], sums[3]);
}

// Loads a lane's 16 interleaved pixels if they are inside the image.
template <int Channels>
__device__ __forceinline__ void load_pixels(const Plane<const Sample8, Device>& in, const RowSegments<1>& at,
                                            std::uint32_t (&words)[4 * Channels]) {
  if (!at.inside() || at.x() >= in.width) return;
  const Sample8* from = in.row(at.y()) + at.x() * Channels;
#pragma unroll
  for (int i = 0; i < Channels; ++i) {
    const uint4 vector = load_vector(from + 16 * i);
    words[4 * i] = vector.x;
    words[4 * i + 1] = vector.y;
    words[4 * i + 2] = vector.z;
    words[4 * i + 3] = vector.w;
  }
}

// Per step, a lane converts 16 pixels: 3 or 4 loads of 16 bytes, a store of 16 bytes of luma, and for RGBA
// another of alpha. Warps walk as in RowSegments. Count: also counts the grey samples; shared memory is then
// kSharedCounters words, and the barriers are those of hist_kernel.
template <int Channels, bool Count>
__global__ __launch_bounds__(
    Count ? kCountingThreads : kThreads,
    fitting_blocks(Count ? kCountingThreads : kThreads,
                   resident_blocks<Channels, Count>())) void gray_kernel(Plane<const Sample8, Device> in,
                                                                         Plane<Sample8, Device> out,
                                                                         Plane<Sample8, Device> alpha,
                                                                         PackedWeights weights,
                                                                         Histogram<Device> histogram) {
  __shared__ __align__(16) std::uint32_t counts[Count ? kSharedCounters : 4];
  RowSegments<1> at(in.width, in.height);
  std::uint32_t words[4 * Channels];
  if (Count) {
    load_pixels<Channels>(in, at, words);
    clear_counters(counts);
    __syncthreads();
  }
  while (at.inside()) {
    if (!Count) load_pixels<Channels>(in, at, words);
    const std::int64_t left = in.width - at.x();
    Sample8* const grey_at = out.row(at.y()) + at.x();
    Sample8* const alpha_at = alpha.row(at.y()) + at.x();
    std::uint32_t grey[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) grey[i] = four_lumas<Channels>(words, i, weights);
    std::uint32_t alphas[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Pixel k of RGBA is word k.
      alphas[i] = pack_bytes<3>(words[(4 * i) % (4 * Channels)], words[(4 * i + 1) % (4 * Channels)],
                                words[(4 * i + 2) % (4 * Channels)], words[(4 * i + 3) % (4 * Channels)]);
    }
    // Load the next pixels while these are stored and counted.
    at.next();
    if (Count) load_pixels<Channels>(in, at, words);
    if (left <= 0) continue;
    store_vector(grey_at, grey, left);
    if (Channels == 4) store_vector(alpha_at, alphas, left);
    if (Count) count_vector(counts, grey, left);
  }
  if (Count) {
    __syncthreads();
    flush_counters(counts, histogram.data);
  }
}

template <bool Count>
CudaStatus launch_gray(const StageCall<Device>& call, const CudaLaunch& launch) {
  constexpr int threads = Count ? kCountingThreads : kThreads;
  const int resident = call.in.type.alpha ? resident_blocks<4, true>() : resident_blocks<3, true>();
  const unsigned grid = stride_blocks<1>(launch, call.in.type, threads, Count ? resident : kOneSegmentEach);
  const PackedWeights weights = packed_weights(GrayParameters(call.parameters).luma);
  const auto kernel = call.in.type.alpha ? gray_kernel<4, Count> : gray_kernel<3, Count>;
  kernel<<<grid, threads, 0, launch.stream>>>(call.in.plane<Sample8>(0), call.out.plane<Sample8>(0),
                                              call.out.plane<Sample8>(kAlphaPlane), weights, call.histogram);
  return cudaGetLastError();
}

}  // namespace

CudaStatus gray_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_gray<false>(call, launch);
}

CudaStatus gray_hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const cudaError_t cleared =
      cudaMemsetAsync(call.histogram.data, 0, kBins * sizeof(std::uint64_t), launch.stream);
  if (cleared != cudaSuccess) return cleared;
  return launch_gray<true>(call, launch);
}

}  // namespace imgpipe
