// Clusters of thread blocks (compute capability 9.0 and later) run simultaneously and access each other's
// shared memory (CUDA C++ Programming Guide, "Thread Block Clusters"). One block is a cluster on any device.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "kernels/cuda_launch.h"
#include "kernels/shared/cluster_support.cuh"

namespace imgpipe {

// Typed form of query_cluster_support().
template <int Blocks, class... Parameters>
cudaError_t query_clusters(void (*kernel)(Parameters...), int threads, int shared_bytes, bool& clusters) {
  return query_cluster_support(reinterpret_cast<const void*>(kernel), Blocks, threads, shared_bytes,
                               clusters);
}

// A barrier for all threads of the cluster; after it they see each other's writes to shared memory.
template <int Blocks>
__device__ __forceinline__ void cluster_barrier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Blocks > 1) {
    cooperative_groups::this_cluster().sync();
    return;
  }
#endif
  __syncthreads();
}

template <int Blocks>
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Blocks > 1) return cooperative_groups::this_cluster().block_rank();
#endif
  return 0;
}

// The address in block `rank` that corresponds to this block's shared memory address `own`.
template <int Blocks, class T>
__device__ __forceinline__ T* shared_of_block(T* own, int rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Blocks > 1) return cooperative_groups::this_cluster().map_shared_rank(own, rank);
#endif
  return own;
}

// Launches a kernel in clusters of `Blocks` blocks along x, with `shared_bytes` of dynamic shared memory per
// block. `Blocks` must divide grid.x, and may exceed 1 only if query_clusters() allows it.
template <int Blocks, class... Parameters, class... Arguments>
CudaStatus launch_clusters(void (*kernel)(Parameters...), dim3 grid, int threads, int shared_bytes,
                           const CudaLaunch& launch, const Arguments&... arguments) {
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (allowed != cudaSuccess) return allowed;
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config = cluster_launch(grid, Blocks, threads, shared_bytes, cluster);
  config.stream = launch.stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace imgpipe
