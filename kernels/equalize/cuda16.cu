// equalize of 16-bit samples: a cluster of blocks makes a plane's table; a second kernel maps the samples.
#include "kernels/equalize/equalize.h"
#include "kernels/shared/cluster_sums.cuh"
#include "kernels/shared/lookup16.cuh"

namespace imgpipe {
namespace {

// Loads 8 adjacent counts with four loads.
__device__ __forceinline__ void load_counts(const std::uint64_t* from, std::uint64_t (&counts)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const ulonglong2 two = __ldg(reinterpret_cast<const ulonglong2*>(from) + i);
    counts[2 * i] = two.x;
    counts[2 * i + 1] = two.y;
  }
}

// Cluster blockIdx.y makes the table of plane blockIdx.y: the result of each value. Each thread handles a few
// adjacent values. Barriers: all blocks clear of_least before one thread sets it to the count of the least
// value that occurs; it is set before all blocks read each other's copy; all have read before a block ends.
template <int Blocks>
__global__ __launch_bounds__(kBinThreads, 1) void equalize16_table_kernel(Histogram<Device> histogram,
                                                                          Sample16* tables) {
  __shared__ std::uint64_t of_least;
  if (threadIdx.x == 0) of_least = 0;
  const std::uint64_t* const counts = histogram.row(blockIdx.y);
  const ThreadBins own = thread_bins<Blocks>(kTableSamples);
  constexpr int kOwn = kTableSamples / (Blocks * kBinThreads);
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < kOwn; i += kWideVectorPixels) {
    std::uint64_t each[kWideVectorPixels];
    load_counts(counts + own.first + i, each);
    for (const std::uint64_t count : each) sum += count;
  }
  const ClusterSums sums = cluster_sums<Blocks>(sum);
  if (sums.before == 0 && sum != 0) {
    std::int64_t bin = own.first;
    while (__ldg(counts + bin) == 0) ++bin;
    of_least = __ldg(counts + bin);
  }
  cluster_barrier<Blocks>();
  std::uint64_t first = 0;
#pragma unroll
  for (int i = 0; i < Blocks; ++i) first += *shared_of_block<Blocks>(&of_least, i);
  const bool stays = first == sums.total;
  const float scale = stays ? 0.0F : equalize_scale(kLargest<Sample16>, sums.total - first);
  std::uint64_t not_above = sums.before;
  auto* const table = reinterpret_cast<uint4*>(tables + std::int64_t{blockIdx.y} * kTableSamples + own.first);
  for (int i = 0; i < kOwn; i += kWideVectorPixels) {
    std::uint64_t each[kWideVectorPixels];
    load_counts(counts + own.first + i, each);
    std::uint32_t becomes[kWideVectorPixels];
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      not_above += each[k];
      becomes[k] = stays ? static_cast<std::uint32_t>(own.first + i + k)
                   : not_above <= first
                       ? 0
                       : static_cast<std::uint32_t>(equalized(not_above - first, scale, kLargest<Sample16>));
    }
    table[i / kWideVectorPixels] =
        make_uint4(pack_low(becomes[0], becomes[1]), pack_low(becomes[2], becomes[3]),
                   pack_low(becomes[4], becomes[5]), pack_low(becomes[6], becomes[7]));
  }
  cluster_barrier<Blocks>();  // keeps the shared memory of a block valid while others read it
}

}  // namespace

CudaStatus equalize_tables_clusters_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                         Clusters method) {
  return launch_over_bins(&equalize16_table_kernel<kBinBlocks>, &equalize16_table_kernel<1>,
                          static_cast<unsigned>(call.in.type.color_channels), launch, method, call.histogram,
                          call.table.as<Sample16>());
}

CudaStatus equalize_tables_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return equalize_tables_clusters_cuda(call, launch, Clusters::where_supported);
}

CudaStatus equalize16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return look_up_planes(call, {call.table.as<Sample16>(), kTableSamples}, launch);
}

}  // namespace imgpipe
