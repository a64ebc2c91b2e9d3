#include "kernels/block_sums.cuh"
#include "kernels/equalize/equalize.h"
#include "kernels/pointwise.cuh"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads == kBins);  // a thread has a bin

// All threads of a block call this together: each writes what its value becomes. Barriers: the warps' sums
// are complete before they are added up, the count of the first value that occurs before it is used, the
// table before the first look.
__device__ void block_equalize_table(const std::uint64_t* counts, Sample (&table)[kBins]) {
  __shared__ std::uint64_t of_first;
  const unsigned bin = threadIdx.x;
  const std::uint64_t count = counts[bin];
  const auto [not_above, total] = sums_of_bins(count);
  if (count != 0 && not_above == count) of_first = count;
  __syncthreads();
  const std::uint64_t first = of_first;
  Sample becomes = static_cast<Sample>(bin);
  if (first != total) {
    const float scale = equalize_scale(kMaxSample, total - first);
    becomes =
        not_above <= first ? Sample{0} : static_cast<Sample>(equalized(not_above - first, scale, kMaxSample));
  }
  table[bin] = becomes;
  __syncthreads();
}

// Plane blockIdx.z. Every block makes the table for itself, all blocks at once, while the first samples are
// on their way. Shared memory: the table, 256 bytes, and sums.
IMGPIPE_POINTWISE_KERNEL equalize_kernel(DevicePlanes<const Sample> in, DevicePlanes<Sample> out,
                                         Histogram<Device> histogram) {
  __shared__ Sample table[kBins];
  map_words_after(plane_of_block(in), plane_of_block(out), [&] {
    block_equalize_table(histogram.row(blockIdx.z), table);
    return [](std::uint32_t word) {
      const std::uint32_t low = table[word & 0xFF] | std::uint32_t{table[word >> 8 & 0xFF]} << 8;
      const std::uint32_t high = table[word >> 16 & 0xFF] | std::uint32_t{table[word >> 24]} << 8;
      return low | high << 16;
    };
  });
}

}  // namespace

CudaStatus equalize_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  equalize_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe
