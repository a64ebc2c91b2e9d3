// hist of 16-bit samples with PackedCounters. If a block can have 128 KiB of shared memory and space for hot
// values (compute capability 8.0, 8.7, 9.0, 10.x), it counts all values and the plane is read once; otherwise
// halves or quarters of the values. From compute capability 9.0 on, the two blocks of a cluster add their
// counters before they update device memory.
//
// H200, 2026-11-22, 8773x5352, us; hist of 8-bit samples takes 17.0:
//
//                      photo   noise   12 bits   one value   two values   five values
//   clusters of two     48.1    50.8      44.7        39.2         41.2          57.4
//   one block           56.0    61.4      45.4        38.6         40.9          57.3
//   halves              96.7   117.2      85.8        65.4         69.6         102.4
//
// Slower, measured without hot values: 32-bit counters across a cluster's shared memory (half of the
// additions or more go to another multiprocessor); additions with unused results, checked by the counters'
// sum.
#include "kernels/hist/hist.h"
#include "kernels/shared/block_cluster.cuh"
#include "kernels/shared/count_warp.cuh"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 1024;
constexpr int kAhead = 3;  // vectors per lane in flight

// Iterates over vectors of 8 samples of a plane, keeping kAhead of them in flight.
class VectorsAhead {
 public:
  __device__ explicit VectorsAhead(const Plane<const Sample8, Device>& plane) : at_(plane) {
#pragma unroll
    for (Loaded& loaded : ahead_) load(loaded);
  }
  __device__ bool any() const {
    return __any_sync(kAllLanes, ahead_[0].count > 0 ? 1 : 0) != 0;
  }
  // Takes this lane's vector; returns how many of its samples are in the image, 0 to 8.
  __device__ int take(std::uint32_t (&words)[4]) {
    words[0] = ahead_[0].vector.x;
    words[1] = ahead_[0].vector.y;
    words[2] = ahead_[0].vector.z;
    words[3] = ahead_[0].vector.w;
    const int count = ahead_[0].count;
#pragma unroll
    for (int i = 0; i + 1 < kAhead; ++i) ahead_[i] = ahead_[i + 1];
    load(ahead_[kAhead - 1]);
    return count;
  }

 private:
  struct Loaded {
    uint4 vector{};
    int count = 0;
  };
  __device__ void load(Loaded& loaded) {
    loaded.count = 0;
    if (!at_.inside()) return;
    loaded.count = static_cast<int>(min(at_.wide_left() / 2, static_cast<unsigned>(kWideVectorPixels)));
    loaded.vector = load_vector(at_.from());
    at_.next();
  }

  VectorWalk at_;
  Loaded ahead_[kAhead];
};

// Adds the counters of the cluster's blocks to the image's. Each block handles a share of the values, and
// adjacent threads handle adjacent values. A thread's values are kThreads apart. mixed_banks() is linear over
// exclusive or, so a value's position is that of the thread's first value xor a constant. Barriers: all
// blocks have counted; all have read.
template <int Parts, int Cluster>
__device__ void flush(const PackedCounters<Parts>& counters) {
  using Packed = PackedCounters<Parts>;
  constexpr std::uint32_t kShare = Packed::kValues / Cluster;
  constexpr int kUnrolled = 8;
  static_assert(kShare % (kThreads * kUnrolled) == 0);
  cluster_barrier<Cluster>();
  const std::uint32_t own = cluster_rank<Cluster>() * kShare + counters.part * Packed::kValues + threadIdx.x;
  const std::uint32_t own_place = mixed_banks(own) % Packed::kValues;
  const std::uint32_t shift = threadIdx.x % 2 * 16;
  const std::uint32_t* blocks[Cluster];
#pragma unroll
  for (int i = 0; i < Cluster; ++i) blocks[i] = shared_of_block<Cluster>(counters.words, i);
#pragma unroll 1
  for (std::uint32_t first = 0; first < kShare; first += kThreads * kUnrolled) {
    std::uint32_t sums[kUnrolled] = {};
#pragma unroll
    for (std::uint32_t i = 0; i < kUnrolled; ++i) {
      const std::uint32_t word = (own_place ^ mixed_banks(first + i * kThreads)) / 2;
#pragma unroll
      for (int k = 0; k < Cluster; ++k) sums[i] += blocks[k][word] >> shift & 0xFFFF;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kUnrolled; ++i) {
      if (sums[i] != 0)
        atomicAdd(counters.totals + (own + first + i * kThreads), static_cast<unsigned long long>(sums[i]));
    }
  }
  cluster_barrier<Cluster>();
}

// Counts part blockIdx.y of the values of plane blockIdx.z, whose rows are walked as bytes (VectorWalk). A
// lane counts 8 adjacent samples while the next 24 are loading. Shared memory: SharedHistogram. Barriers:
// after the counters are cleared; in flush(). All lanes of a warp iterate until the last one is done.
template <int Parts, int Cluster>
__global__ __launch_bounds__(kThreads, 1) void hist16_kernel(DevicePlanes<const Sample8> planes,
                                                             Histogram<Device> histogram) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<SharedHistogram<Parts, kThreads>*>(shared_bytes);
  PackedCounters<Parts> counters{
      shared.words, reinterpret_cast<unsigned long long*>(histogram.row(blockIdx.z)), blockIdx.y};
  VectorsAhead vectors(plane_of_block(planes));
  counters.clear();
  __syncthreads();
  WarpCounter warp(counters, shared.hot[threadIdx.x / kWarpLanes]);
  while (vectors.any()) {
    std::uint32_t words[4];
    const int count = vectors.take(words);
    warp.count(words, count);
  }
  warp.flush();
  flush<Parts, Cluster>(counters);
}

template <int Parts, int Cluster>
CudaStatus launch_hist(const StageCall<Device>& call, const CudaLaunch& launch) {
  const std::int64_t vectors =
      (call.in.type.width + kWideVectorPixels - 1) / kWideVectorPixels * call.in.type.height;
  const std::int64_t useful = (vectors + kThreads - 1) / kThreads;
  const std::int64_t blocks = useful < launch.multiprocessors ? useful : launch.multiprocessors;
  const dim3 grid(static_cast<unsigned>((blocks + Cluster - 1) / Cluster * Cluster), Parts,
                  static_cast<unsigned>(call.in.type.color_channels));
  return launch_clusters<Cluster>(&hist16_kernel<Parts, Cluster>, grid, kThreads,
                                  sizeof(SharedHistogram<Parts, kThreads>), launch, color_planes(call.in),
                                  call.histogram);
}

}  // namespace

CudaStatus hist16_strategy_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                const Hist16Strategy& method) {
  if (const CudaStatus cleared = clear_histogram(call, launch); cleared != cudaSuccess) return cleared;
  if (method.parts == 2) return launch_hist<2, 1>(call, launch);
  if (method.parts == 4) return launch_hist<4, 1>(call, launch);
  bool clusters = false;
  const cudaError_t found =
      query_clusters<2>(&hist16_kernel<1, 2>, kThreads, sizeof(SharedHistogram<1, kThreads>), clusters);
  if (found != cudaSuccess) return found;
  return method.clusters && clusters ? launch_hist<1, 2>(call, launch) : launch_hist<1, 1>(call, launch);
}

CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  int parts = 0;
  if (const cudaError_t found = parts_that_fit<kThreads>(parts); found != cudaSuccess) return found;
  return hist16_strategy_cuda(call, launch, {.parts = parts, .clusters = true});
}

}  // namespace imgpipe
