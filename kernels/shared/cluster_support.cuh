// Detects whether a device can run a kernel in clusters of thread blocks. Host code only.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

namespace imgpipe {

// The launch of one cluster, or of several along x. `cluster` must outlive the configuration.
inline cudaLaunchConfig_t cluster_launch(dim3 grid, int blocks, int threads, int shared_bytes,
                                         cudaLaunchAttribute& cluster) {
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.attrs = &cluster;
  config.numAttrs = blocks > 1 ? 1 : 0;
  return config;
}

// Sets `clusters` to whether the current device runs the kernel in clusters of `blocks` blocks. The kernel
// must be compiled for compute capability 9.0 or later; later devices may run code for 8.0. The device must
// be able to place a cluster: small or partitioned ones may have too few multiprocessors in a group.
inline cudaError_t query_cluster_support(const void* kernel, int blocks, int threads, int shared_bytes,
                                         bool& clusters) {
  cudaFuncAttributes attributes{};
  if (const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel); status != cudaSuccess)
    return status;
  int placed = 0;
  if (attributes.ptxVersion >= 90) {
    const cudaError_t allowed =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (allowed != cudaSuccess) return allowed;
    cudaLaunchAttribute cluster{};
    const cudaLaunchConfig_t config =
        cluster_launch(dim3(static_cast<unsigned>(blocks)), blocks, threads, shared_bytes, cluster);
    if (cudaOccupancyMaxActiveClusters(&placed, kernel, &config) != cudaSuccess) {
      placed = 0;
      (void)cudaGetLastError();  // the next launch would report it
    }
  }
  clusters = placed > 0;
  return cudaSuccess;
}

}  // namespace imgpipe
