#include "kernels/gamma/gamma.h"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads == kBins);  // each thread copies one entry

// Processes plane blockIdx.z. Shared memory: the table, 256 bytes. Barrier: it is complete before the first
// lookup.
IMGPIPE_POINTWISE_KERNEL gamma_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                      const Sample8* table) {
  __shared__ Sample8 result_of[kBins];
  result_of[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  map_words(plane_of_block(in), plane_of_block(out), [&](std::uint32_t word) {
    const std::uint32_t low = result_of[word & 0xFF] | std::uint32_t{result_of[word >> 8 & 0xFF]} << 8;
    const std::uint32_t high = result_of[word >> 16 & 0xFF] | std::uint32_t{result_of[word >> 24]} << 8;
    return low | high << 16;
  });
}

}  // namespace

CudaStatus gamma_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  gamma_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), call.table.as<Sample8>());
  return cudaGetLastError();
}

}  // namespace imgpipe
