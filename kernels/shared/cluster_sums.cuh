// Sums over the up to 65,536 bins of a histogram by a cluster of blocks, each thread with a few adjacent
// bins. Many loads are in flight at once, so that all of them take little longer than one.
#pragma once

#include "kernels/cuda_launch.h"
#include "kernels/shared/block_cluster.cuh"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

constexpr int kBinThreads = 1024;
constexpr int kBinBlocks = 8;  // per cluster if the device supports that, otherwise one

// The adjacent bins of a thread.
struct ThreadBins {
  std::int64_t first;
  int count;  // 0 if there are fewer bins than threads
};
template <int Blocks>
__device__ __forceinline__ ThreadBins thread_bins(std::int64_t bins) {
  constexpr std::int64_t kThreads = std::int64_t{Blocks} * kBinThreads;
  const auto each = static_cast<int>((bins + kThreads - 1) / kThreads);
  const std::int64_t first = (cluster_rank<Blocks>() * std::int64_t{kBinThreads} + threadIdx.x) * each;
  return {first, first < bins ? each : 0};
}

struct ClusterSums {
  std::uint64_t before;  // of all threads before this one
  std::uint64_t total;
};

// All threads of the cluster must call this, kBinThreads per block. Shared memory: sums per warp and block.
// Barriers complete the warps' sums, then the blocks'. A cluster_barrier() must follow before the next call
// and before the block exits.
template <int Blocks>
__device__ ClusterSums cluster_sums(std::uint64_t own) {
  constexpr int kWarps = kBinThreads / kWarpLanes;
  __shared__ std::uint64_t warp_sums[kWarps];
  __shared__ std::uint64_t block_sum;
  const unsigned warp = threadIdx.x / kWarpLanes;
  const unsigned lane = threadIdx.x % kWarpLanes;
  const std::uint64_t up_to = sum_up_to_lane(own);
  if (lane == kWarpLanes - 1) warp_sums[warp] = up_to;
  __syncthreads();
  static_assert(kWarps == kWarpLanes);
  const std::uint64_t of_lane = warp_sums[lane];
  const std::uint64_t warps_up_to = sum_up_to_lane(of_lane);
  const std::uint64_t of_block = __shfl_sync(0xFFFFFFFF, warps_up_to, kWarps - 1);
  ClusterSums sums{__shfl_sync(0xFFFFFFFF, warps_up_to - of_lane, static_cast<int>(warp)) + up_to - own,
                   of_block};
  if constexpr (Blocks > 1) {
    if (threadIdx.x == 0) block_sum = of_block;
    cluster_barrier<Blocks>();
    sums.total = 0;
#pragma unroll
    for (int i = 0; i < Blocks; ++i) {
      const std::uint64_t sum = *shared_of_block<Blocks>(&block_sum, i);
      if (i < static_cast<int>(cluster_rank<Blocks>())) sums.before += sum;
      sums.total += sum;
    }
  }
  return sums;
}

// Launches a kernel over `count` histograms along y, in clusters of kBinBlocks blocks or one block each.
template <class... Parameters, class... Arguments>
CudaStatus launch_over_bins(void (*in_clusters)(Parameters...), void (*alone)(Parameters...), unsigned count,
                            const CudaLaunch& launch, Clusters method, const Arguments&... arguments) {
  bool clusters = false;
  const cudaError_t found = query_clusters<kBinBlocks>(in_clusters, kBinThreads, 0, clusters);
  if (found != cudaSuccess) return found;
  return clusters && method == Clusters::where_supported
             ? launch_clusters<kBinBlocks>(in_clusters, dim3(kBinBlocks, count), kBinThreads, 0, launch,
                                           arguments...)
             : launch_clusters<1>(alone, dim3(1, count), kBinThreads, 0, launch, arguments...);
}

}  // namespace imgpipe
