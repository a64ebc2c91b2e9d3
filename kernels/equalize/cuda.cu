#include "kernels/equalize/equalize.h"
#include "kernels/equalize/table_block.cuh"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads == kBins);  // one bin per thread

// Processes plane blockIdx.z. Every block makes its own copy of the table, in parallel, while its first
// samples are loading. Shared memory: the table, 256 bytes, and sums.
IMGPIPE_POINTWISE_KERNEL equalize_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                         Histogram<Device> histogram) {
  __shared__ Sample8 table[kBins];
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
