// hist of 16-bit samples: a block counts with PackedCounters. Where 128 KiB of shared memory may be had
// (compute capability 8.0, 8.7, 9.0, 10.x) it holds all values and the plane is read once; elsewhere halves
// or quarters of the values. From compute capability 9.0 on the blocks of a cluster add their counters up
// before they go to device memory.
#include "kernels/block_cluster.cuh"
#include "kernels/hist/count_warp.cuh"
#include "kernels/hist/hist.h"
#include "kernels/hist/loose_counters.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 1024;

// The sum of all threads' values, to thread 0. Barriers inside.
__device__ inline std::uint64_t block_sum(std::uint64_t value) {
  __shared__ std::uint64_t sums[kThreads / kWarpLanes];
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  __syncthreads();
  if (threadIdx.x % kWarpLanes == 0) sums[threadIdx.x / kWarpLanes] = value;
  __syncthreads();
  if (threadIdx.x != 0) return 0;
  value = 0;
  for (const std::uint64_t sum : sums) value += sum;
  return value;
}

// Counts with LooseCounters. False, for all threads: the sum is not right, all must be counted again.
template <int Parts>
__device__ bool count_loosely(const PackedCounters<Parts>& packed, VectorsAhead& vectors) {
  static_assert(Parts == 1);  // else a block does not know how many samples are its own
  __shared__ NotedWraps noted;
  LooseCounters<Parts> counters{packed, &noted};
  counters.clear();
  if (threadIdx.x == 0) noted.count = noted.failed = 0;
  __syncthreads();
  std::uint64_t missing = count_plane(counters, vectors);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < PackedCounters<Parts>::kWords; i += blockDim.x)
    missing -= (counters.words[i] & 0xFFFF) + (counters.words[i] >> 16);
  missing = block_sum(missing);
  if (threadIdx.x == 0) {
    const unsigned entries = min(noted.count, NotedWraps::kMost);
    for (unsigned i = 0; i < entries; ++i) {
      const std::uint64_t wrap = kHalfWraps;
      missing -= (noted.entry[i] & 1) != 0 ? 0 - wrap : wrap;
    }
    noted.failed = missing != 0 || noted.count > NotedWraps::kMost ? 1 : 0;
    if (noted.failed == 0) {
      for (unsigned i = 0; i < entries; ++i) {
        const unsigned long long wrap = kHalfWraps;
        atomicAdd(packed.totals + (noted.entry[i] >> 1), (noted.entry[i] & 1) != 0 ? 0ULL - wrap : wrap);
      }
    }
  }
  __syncthreads();
  return noted.failed == 0;
}

// Adds the counters of the cluster's blocks to the image's, each block a share of the values. Barriers: all
// blocks have counted before others look; none ends before they have.
template <int Parts, int Cluster>
__device__ void flush(const PackedCounters<Parts>& counters) {
  using Packed = PackedCounters<Parts>;
  cluster_barrier<Cluster>();
  constexpr std::uint32_t kShare = Packed::kValues / Cluster;
  const std::uint32_t first = cluster_rank<Cluster>() * kShare + counters.part * Packed::kValues;
  const std::uint32_t* blocks[Cluster];
#pragma unroll
  for (int i = 0; i < Cluster; ++i) blocks[i] = shared_of_block<Cluster>(counters.words, i);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < kShare; i += blockDim.x) {
    const std::uint32_t value = first + i;
    const std::uint32_t word = Packed::word_of(value);
    std::uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < Cluster; ++k) sum += Packed::half_of(value, blocks[k][word]);
    if (sum != 0) atomicAdd(counters.totals + value, static_cast<unsigned long long>(sum));
  }
  cluster_barrier<Cluster>();
}

// The part blockIdx.y of the values of plane blockIdx.z, whose rows are walked over as bytes. A lane counts 8
// adjacent samples while the next 16 are on their way. Shared memory: PackedCounters<Parts>::kBytes.
// Barriers: counters are cleared before the first count, and complete before they are summed. All lanes of a
// warp walk on until the last of them is done.
template <int Parts, int Cluster, bool Loose>
__global__ __launch_bounds__(kThreads, 1) void hist16_kernel(DevicePlanes<const Sample> planes,
                                                             Histogram<Device> histogram) {
  extern __shared__ __align__(16) std::uint32_t shared_words[];
  PackedCounters<Parts> counters{
      shared_words, reinterpret_cast<unsigned long long*>(histogram.row(blockIdx.z)), blockIdx.y};
  const Plane<const Sample, Device> plane = plane_of_block(planes);
  VectorsAhead vectors(plane);
  bool counted = false;
  if constexpr (Loose) counted = count_loosely(counters, vectors);
  if (!counted) {
    if (Loose) vectors = VectorsAhead(plane);
    counters.clear();
    __syncthreads();
    count_plane(counters, vectors);
  }
  flush<Parts, Cluster>(counters);
}

template <int Parts, int Cluster, bool Loose>
CudaStatus launch_hist(const StageCall<Device>& call, const CudaLaunch& launch) {
  const std::int64_t vectors =
      (call.in.type.width + kWideVectorPixels - 1) / kWideVectorPixels * call.in.type.height;
  const std::int64_t useful = (vectors + kThreads - 1) / kThreads;
  const std::int64_t blocks = useful < launch.multiprocessors ? useful : launch.multiprocessors;
  const dim3 grid(static_cast<unsigned>((blocks + Cluster - 1) / Cluster * Cluster), Parts,
                  static_cast<unsigned>(call.in.type.color_channels));
  return launch_clusters<Cluster>(
      &hist16_kernel<Parts, Cluster, Loose>, grid, kThreads, PackedCounters<Parts>::kBytes, launch,
      DevicePlanes<const Sample>{
          {bytes_of(call.in.planes[0]), bytes_of(call.in.planes[1]), bytes_of(call.in.planes[2])}},
      call.histogram);
}

}  // namespace

CudaStatus hist16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, const Hist16Way& way) {
  const cudaError_t cleared = cudaMemsetAsync(
      call.histogram.data, 0,
      static_cast<std::size_t>(call.in.type.color_channels * call.histogram.stride) * sizeof(std::uint64_t),
      launch.stream);
  if (cleared != cudaSuccess) return cleared;
  if (way.parts == 2) return launch_hist<2, 1, false>(call, launch);
  if (way.parts == 4) return launch_hist<4, 1, false>(call, launch);
  if (way.loose) {
    if (way.cluster == 1) return launch_hist<1, 1, true>(call, launch);
    if (way.cluster == 2) return launch_hist<1, 2, true>(call, launch);
    return launch_hist<1, 4, true>(call, launch);
  }
  if (way.cluster == 1) return launch_hist<1, 1, false>(call, launch);
  if (way.cluster == 2) return launch_hist<1, 2, false>(call, launch);
  if (way.cluster == 4) return launch_hist<1, 4, false>(call, launch);
  return launch_hist<1, 8, false>(call, launch);
}

CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  int most_bytes = 0;
  if (const cudaError_t found = shared_bytes_of_a_block(most_bytes); found != cudaSuccess) return found;
  const bool all = most_bytes >= static_cast<int>(PackedCounters<1>::kBytes);
  const bool half = most_bytes >= static_cast<int>(PackedCounters<2>::kBytes);
  bool clusters = false;
  if (const cudaError_t found = has_clusters(clusters); found != cudaSuccess) return found;
  return hist16_way_cuda(call, launch, {.parts = all ? 1 : half ? 2 : 4, .cluster = clusters && all ? 2 : 1});
}

}  // namespace imgpipe
