// Maps 16-bit samples through a table of 65,536 entries on a CUDA device: in shared memory if that holds 128
// KiB (compute capability 8.0, 8.7, 9.0, 10.x) and the image is larger than the table, otherwise through the
// caches.
#pragma once

#include <algorithm>

#include "kernels/shared/mixed_banks.cuh"
#include "kernels/shared/pointwise.cuh"
#include "kernels/stage_call.h"

namespace imgpipe {

constexpr int kTableSamples = 65536;
constexpr int kTableBytes = kTableSamples * 2;
constexpr int kSharedTableThreads = 1024;

// The table of colour plane c begins at c * stride.
struct PlaneTables {
  const Sample16* first;
  int stride;
};

// Maps plane blockIdx.z; threads walk as in map_words_after(). Shared memory: the 128 KiB table, completed by
// the barrier. A thread copies 8 entries at a time; mixed banks keep a warp's words apart.
static __global__ __launch_bounds__(kSharedTableThreads,
                                    1) void shared_lookup_kernel(DevicePlanes<const Sample8> in,
                                                                 DevicePlanes<Sample8> out,
                                                                 PlaneTables tables) {
  extern __shared__ __align__(16) std::uint32_t shared_table[];
  map_words_after(plane_of_block(in), plane_of_block(out), [&] {
    const Sample16* const table = tables.first + std::int64_t{blockIdx.z} * tables.stride;
    for (std::uint32_t i = threadIdx.x * kWideVectorPixels; i < kTableSamples;
         i += blockDim.x * kWideVectorPixels) {
      const uint4 vector = load_vector(table + i);
      const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
      for (std::uint32_t w = 0; w < 4; ++w) shared_table[mixed_banks(i + 2 * w) / 2] = words[w];
    }
    __syncthreads();
    const auto* const result_of = reinterpret_cast<const Sample16*>(shared_table);
    return [result_of](std::uint32_t word) {
      const std::uint32_t mixed = mixed_banks(word);
      return result_of[mixed & 0xFFFF] | std::uint32_t{result_of[mixed >> 16]} << 16;
    };
  });
}

// Maps plane blockIdx.z; threads walk as in map_words().
static IMGPIPE_POINTWISE_KERNEL cached_lookup_kernel(DevicePlanes<const Sample8> in,
                                                     DevicePlanes<Sample8> out, PlaneTables tables) {
  const Sample16* const table = tables.first + std::int64_t{blockIdx.z} * tables.stride;
  map_words(plane_of_block(in), plane_of_block(out), [table](std::uint32_t word) {
    return __ldg(table + (word & 0xFFFF)) | std::uint32_t{__ldg(table + (word >> 16))} << 16;
  });
}

inline CudaStatus look_up_planes(const StageCall<Device>& call, const PlaneTables& tables,
                                 const CudaLaunch& launch) {
  int max_bytes = 0;
  if (const cudaError_t found = shared_bytes_of_a_block(max_bytes); found != cudaSuccess) return found;
  dim3 grid = pointwise_grid(launch, call.in.type);
  if (max_bytes < kTableBytes || call.in.type.pixels() < kTableSamples) {
    cached_lookup_kernel<<<grid, kPointwiseThreads, 0, launch.stream>>>(color_planes(call.in),
                                                                        color_planes(call.out), tables);
    return cudaGetLastError();
  }
  const cudaError_t allowed =
      cudaFuncSetAttribute(shared_lookup_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kTableBytes);
  if (allowed != cudaSuccess) return allowed;
  grid.x = std::min(grid.x, static_cast<unsigned>(launch.multiprocessors));
  shared_lookup_kernel<<<grid, kSharedTableThreads, kTableBytes, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), tables);
  return cudaGetLastError();
}

}  // namespace imgpipe
