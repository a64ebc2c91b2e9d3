// gamma of 16-bit samples: a table of 128 KiB.
#include <algorithm>

#include "kernels/gamma/gamma.h"
#include "kernels/pointwise.cuh"

namespace imgpipe {
namespace {

constexpr int kTableSamples = 65536;
constexpr int kTableBytes = kTableSamples * 2;
constexpr int kSharedThreads = 1024;

// Two looks, in shared memory or past the first cache.
template <class Look>
__device__ __forceinline__ std::uint32_t look_up(std::uint32_t word, const Look& look) {
  return look(word & 0xFFFF) | look(word >> 16) << 16;
}

// Plane blockIdx.z. Shared memory: the table. Barrier: it is complete before the first look.
__global__ __launch_bounds__(kSharedThreads, 1) void gamma16_shared_kernel(DevicePlanes<const Sample> in,
                                                                           DevicePlanes<Sample> out,
                                                                           const Sample16* table) {
  extern __shared__ __align__(16) std::uint32_t shared_table[];
  auto* const to = reinterpret_cast<uint4*>(shared_table);
  for (unsigned i = threadIdx.x; i < kTableBytes / sizeof(uint4); i += blockDim.x)
    to[i] = __ldg(reinterpret_cast<const uint4*>(table) + i);
  __syncthreads();
  const auto* const result_of = reinterpret_cast<const Sample16*>(shared_table);
  map_words(plane_of_block(in), plane_of_block(out), [result_of](std::uint32_t word) {
    return look_up(word, [result_of](std::uint32_t v) { return std::uint32_t{result_of[v]}; });
  });
}

// Plane blockIdx.z.
IMGPIPE_POINTWISE_KERNEL gamma16_kernel(DevicePlanes<const Sample> in, DevicePlanes<Sample> out,
                                        const Sample16* table) {
  map_words(plane_of_block(in), plane_of_block(out), [table](std::uint32_t word) {
    return look_up(word, [table](std::uint32_t v) { return std::uint32_t{__ldg(table + v)}; });
  });
}

}  // namespace

// The table goes to shared memory where that holds it and the image is larger than it.
CudaStatus gamma16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto* const table = call.prepared.as<Sample16>();
  int most_bytes = 0;
  if (const cudaError_t found = shared_bytes_of_a_block(most_bytes); found != cudaSuccess) return found;
  if (most_bytes < kTableBytes || call.in.type.pixels() < kTableSamples) {
    gamma16_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
        color_planes(call.in), color_planes(call.out), table);
    return cudaGetLastError();
  }
  const cudaError_t allowed =
      cudaFuncSetAttribute(gamma16_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kTableBytes);
  if (allowed != cudaSuccess) return allowed;
  dim3 grid = pointwise_grid(launch, call.in.type);
  grid.x = std::min(grid.x, static_cast<unsigned>(launch.multiprocessors));
  gamma16_shared_kernel<<<grid, kSharedThreads, kTableBytes, launch.stream>>>(color_planes(call.in),
                                                                              color_planes(call.out), table);
  return cudaGetLastError();
}

}  // namespace imgpipe
