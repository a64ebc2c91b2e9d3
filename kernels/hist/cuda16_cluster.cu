// hist of 16-bit samples with the counters of 32 bits in the shared memory of a whole cluster.
#include "kernels/hist/cluster_counters.cuh"
#include "kernels/hist/hist.h"

namespace imgpipe {
namespace {

constexpr int kThreads = 1024;

// Plane blockIdx.z. Shared memory: ClusterCounters<Cluster>::kBytes. Barriers: all counters of the cluster
// are cleared before the first count, and complete before they go to device memory.
template <int Cluster>
__global__ __launch_bounds__(kThreads, 1) void hist16_cluster_kernel(DevicePlanes<const Sample> planes,
                                                                     Histogram<Device> histogram) {
  extern __shared__ __align__(16) std::uint32_t shared_words[];
  ClusterCounters<Cluster> counters{shared_words};
  VectorsAhead vectors(plane_of_block(planes));
  counters.clear();
  cluster_barrier<Cluster>();
  count_plane(counters, vectors);
  cluster_barrier<Cluster>();
  auto* const totals = reinterpret_cast<unsigned long long*>(histogram.row(blockIdx.z));
  const unsigned rank = cluster_rank<Cluster>();
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < ClusterCounters<Cluster>::kWords; i += blockDim.x) {
    // Neighbouring threads have neighbouring values of one block.
    const std::uint32_t count = shared_words[i];
    if (count != 0) atomicAdd(totals + counters.value_of(i, rank), static_cast<unsigned long long>(count));
  }
}

template <int Cluster>
CudaStatus launch_hist(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto blocks = static_cast<unsigned>((launch.multiprocessors + Cluster - 1) / Cluster * Cluster);
  return launch_clusters<Cluster>(
      &hist16_cluster_kernel<Cluster>, dim3(blocks, 1, static_cast<unsigned>(call.in.type.color_channels)),
      kThreads, ClusterCounters<Cluster>::kBytes, launch,
      DevicePlanes<const Sample>{
          {bytes_of(call.in.planes[0]), bytes_of(call.in.planes[1]), bytes_of(call.in.planes[2])}},
      call.histogram);
}

}  // namespace

CudaStatus hist16_cluster_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int cluster) {
  const cudaError_t cleared = cudaMemsetAsync(
      call.histogram.data, 0,
      static_cast<std::size_t>(call.in.type.color_channels * call.histogram.stride) * sizeof(std::uint64_t),
      launch.stream);
  if (cleared != cudaSuccess) return cleared;
  return cluster == 2 ? launch_hist<2>(call, launch) : launch_hist<4>(call, launch);
}

}  // namespace imgpipe
