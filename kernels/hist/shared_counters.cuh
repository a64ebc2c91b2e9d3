// Counters in shared memory without contention: one column a lane.
//
//   counts[bin * 32 + lane]      bank = lane, whatever the bin
//
// So the 32 lanes of a warp always hit 32 different banks and different addresses: an image of one colour
// costs what noise costs. Warps of a block share the columns, hence the atomics. 32 KiB a block.
#pragma once

#include "kernels/device_rows.cuh"
#include "kernels/pixel.h"

namespace imgpipe {

constexpr int kCounterColumns = kWarpLanes;
constexpr int kSharedCounters = kBins * kCounterColumns;

__device__ inline void clear_counters(std::uint32_t* counts) {
  for (unsigned i = threadIdx.x; i < kSharedCounters; i += blockDim.x) counts[i] = 0;
}

// Counts the 16 samples of a vector, or the first `count`.
template <class Count>
__device__ __forceinline__ void count_vector(std::uint32_t* counts, const std::uint32_t (&words)[4],
                                             Count count) {
  std::uint32_t* column = counts + threadIdx.x % kWarpLanes;
  if (count >= kVectorPixels) {
#pragma unroll
    for (int k = 0; k < kVectorPixels; ++k) atomicAdd(column + byte_of(words, k) * kCounterColumns, 1U);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVectorPixels; ++k) {
    if (k < count) atomicAdd(column + byte_of(words, k) * kCounterColumns, 1U);
  }
}

// Adds the block's counters to the image's. Each thread sums whole bins, starting at a column of its own so
// that the threads of a warp read different banks. Call after a barrier.
__device__ inline void flush_counters(const std::uint32_t* counts, std::uint64_t* totals) {
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (unsigned i = 0; i < kCounterColumns; ++i)
      sum += counts[bin * kCounterColumns + (i + bin) % kCounterColumns];
    if (sum > 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(totals + bin), static_cast<unsigned long long>(sum));
  }
}

}  // namespace imgpipe
