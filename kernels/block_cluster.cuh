// Clusters of thread blocks (compute capability 9.0 on): blocks that run at the same time, near each other,
// and reach each other's shared memory (CUDA C++ Programming Guide, "Thread Block Clusters"). A cluster of
// one block is a block, on every device.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "kernels/cuda_launch.h"

namespace imgpipe {

// Whether the present device runs a kernel in clusters: what runs there of it was compiled for compute
// capability 9.0 or later. A later device may well run what was compiled for 8.0, in which the functions
// below know of no cluster.
template <class... Parameters>
cudaError_t has_clusters(void (*kernel)(Parameters...), bool& clusters) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
  clusters = attributes.ptxVersion >= 90;
  return status;
}

// A barrier for all threads of the cluster, behind which they see what the others wrote to shared memory.
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

// This block's number in the cluster.
template <int Blocks>
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Blocks > 1) return cooperative_groups::this_cluster().block_rank();
#endif
  return 0;
}

// Where block `rank` of the cluster has what this one has at `own` in shared memory.
template <int Blocks, class T>
__device__ __forceinline__ T* shared_of_block(T* own, int rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Blocks > 1) return cooperative_groups::this_cluster().map_shared_rank(own, rank);
#endif
  return own;
}

// Launches a kernel in clusters of `Blocks` blocks along x, each block with so many bytes of dynamic shared
// memory. `Blocks` divides grid.x; above 1 only where has_clusters() says so.
template <int Blocks, class... Parameters, class... Arguments>
CudaStatus launch_clusters(void (*kernel)(Parameters...), dim3 grid, int threads, int shared_bytes,
                           const CudaLaunch& launch, const Arguments&... arguments) {
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (allowed != cudaSuccess) return allowed;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = Blocks;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = launch.stream;
  config.attrs = &cluster;
  config.numAttrs = Blocks > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace imgpipe
