// The CUDA variants of hist for 16-bit samples only, oldest first; times include clearing the counters.
#include "kernels/shared/block_cluster.cuh"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

using Counts = Histogram<Device>;

constexpr unsigned kWideValues = 65536;
constexpr unsigned kHalf = kWideValues / 2;
static_assert(kHalf * sizeof(std::uint32_t) == kHalfBinsBytes);

// Lanes with the same value are matched, and the lowest of them adds their count.
__global__ __launch_bounds__(kMaxBlockThreads) void warp_kernel(SourceOf<Sample16> in, Counts counts) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  for (auto at = grid_stride<1>(in); at.inside(); at.next()) {
    const std::uint32_t value = in.row(at.y())[at.x()];
    const unsigned alike = __match_any_sync(__activemask(), value);
    if (lane == static_cast<unsigned>(__ffs(static_cast<int>(alike)) - 1))
      add_to(counts.data + value, static_cast<std::uint64_t>(__popc(alike)));
  }
}

// Clears 128 KiB of shared memory, aligned to 16 bytes.
__device__ void clear_words(std::uint32_t* words) {
  auto* const vectors = reinterpret_cast<uint4*>(words);
  for (unsigned i = threadIdx.x; i < kHalf / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
}

__device__ void flush_half(const std::uint32_t* words, std::uint64_t* counts) {
  for (unsigned bin = threadIdx.x; bin < kHalf; bin += blockDim.x) {
    if (words[bin] > 0) add_to(counts + bin, words[bin]);
  }
}

// Calls count(value) for the samples of a vector that belong to the image.
template <class Count>
__device__ __forceinline__ void each_of_vector(const Sample16* from, std::int64_t left, const Count& count) {
  const uint4 vector = load_vector(from);
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int k = 0; k < kWideVectorPixels; ++k) {
    if (k < left) count(wide_of(words, k));
  }
}

// Counts half blockIdx.y of the values in shared memory. Barriers: counters are cleared before the first
// count, and complete before they are added to the image's.
__global__ __launch_bounds__(kMaxBlockThreads) void passes_kernel(SourceOf<Sample16> in, Counts counts) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  clear_words(shared);
  __syncthreads();
  const std::uint32_t first = blockIdx.y * kHalf;
  for (auto at = grid_stride<kWideVectorPixels>(in); at.inside(); at.next()) {
    each_of_vector(in.row(at.y()) + at.x(), at.left(), [&](std::uint32_t value) {
      if (value - first < kHalf) atomicAdd(shared + (value - first), 1U);
    });
  }
  __syncthreads();
  flush_half(shared, counts.data + first);
}

// Block r of a two-block cluster counts half r of the values. Cluster barriers: counters are cleared before
// either block counts, and both have counted before either reads its counters or ends.
__global__ __launch_bounds__(kMaxBlockThreads) void cluster_kernel(SourceOf<Sample16> in, Counts counts) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) std::uint32_t shared[];
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  clear_words(shared);
  cluster.sync();
  std::uint32_t* const halves[2] = {cluster.map_shared_rank(shared, 0U), cluster.map_shared_rank(shared, 1U)};
  for (auto at = grid_stride<kWideVectorPixels>(in); at.inside(); at.next()) {
    each_of_vector(in.row(at.y()) + at.x(), at.left(), [&](std::uint32_t value) {
      atomicAdd((value < kHalf ? halves[0] : halves[1]) + value % kHalf, 1U);
    });
  }
  cluster.sync();
  flush_half(shared, counts.data + cluster.block_rank() * kHalf);
#endif
}

// Two 16-bit counters per word: value v is in the lower half of word v, or, from 32,768 on, in the upper half
// of word v - 32,768. The block empties them before it can have counted more than kMaxCount. Barriers:
// counters are cleared before the first count, and complete before they are added to the image's and cleared.
constexpr int kMaxCount = 65535;
__global__ __launch_bounds__(kMaxBlockThreads) void packed_kernel(SourceOf<Sample16> in, Counts counts) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  const int vectors_a_round = kMaxCount / kWideVectorPixels / static_cast<int>(blockDim.x);
  clear_words(shared);
  __syncthreads();
  auto at = grid_stride<kWideVectorPixels>(in);
  while (__syncthreads_or(at.inside() ? 1 : 0) != 0) {
    for (int i = 0; i < vectors_a_round && at.inside(); ++i, at.next()) {
      each_of_vector(in.row(at.y()) + at.x(), at.left(), [&](std::uint32_t value) {
        atomicAdd(shared + value % kHalf, value < kHalf ? 1U : 1U << 16);
      });
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kHalf; i += blockDim.x) {
      const std::uint32_t word = shared[i];
      if ((word & 0xFFFF) != 0) add_to(counts.data + i, word & 0xFFFF);
      if (word >> 16 != 0) add_to(counts.data + kHalf + i, word >> 16);
      shared[i] = 0;
    }
  }
}

// Launches a kernel with half of the counters in a block's shared memory.
CudaStatus launch_halves(void (*kernel)(SourceOf<Sample16>, Counts), const dim3& blocks,
                         const StageCall<Device>& call, const VariantLaunch& launch) {
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kHalfBinsBytes);
  if (allowed != cudaSuccess) return allowed;
  return launch_counts(kernel, {blocks, block_of(launch, kMaxBlockThreads), kHalfBinsBytes}, call, launch);
}

}  // namespace

CudaStatus hist16_warp(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(warp_kernel, striding(launch), call, launch);
}

CudaStatus hist16_passes(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_halves(passes_kernel, {striding_blocks(launch, 1), 2, 1}, call, launch);
}

CudaStatus hist16_packed(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_halves(packed_kernel, striding_blocks(launch, 1), call, launch);
}

CudaStatus hist16_cluster(const StageCall<Device>& call, const VariantLaunch& launch) {
  constexpr int kBlocks = 2;  // per cluster
  bool clusters = false;
  const auto threads = static_cast<int>(block_of(launch, kMaxBlockThreads));
  const cudaError_t found = query_clusters<kBlocks>(&cluster_kernel, threads, kHalfBinsBytes, clusters);
  if (found != cudaSuccess) return found;
  if (!clusters)
    return cudaErrorNoKernelImageForDevice;  // no code for 9.0, or the device cannot place the cluster
  if (const CudaStatus cleared = clear_histogram(call, launch); cleared != cudaSuccess) return cleared;
  const unsigned blocks = (striding_blocks(launch, 1) + kBlocks - 1) / kBlocks * kBlocks;
  return launch_clusters<kBlocks>(&cluster_kernel, dim3(blocks), threads, kHalfBinsBytes, launch,
                                  SourceOf<Sample16>(call.in.plane<Sample16>(0)), call.histogram);
}

}  // namespace imgpipe
