// Contention-free counters in shared memory, one column per lane, 32 KiB per block:
//
//   counts[bin * 32 + lane]      bank = lane, whatever the bin
//
// The 32 lanes of a warp always use different banks and addresses, so a uniform image costs as much as noise.
// The warps of a block share the columns, hence the atomics.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

constexpr int kCounterColumns = kWarpLanes;
constexpr int kSharedCounters = kBins * kCounterColumns;

// `counts` must be on a 16-byte boundary.
__device__ inline void clear_counters(std::uint32_t* counts) {
  auto* vectors = reinterpret_cast<uint4*>(counts);
  for (unsigned i = threadIdx.x; i < kSharedCounters / 4; i += blockDim.x)
    vectors[i] = make_uint4(0, 0, 0, 0);
}

// Counts the 16 samples of a vector, or the first `count`. One dot product of bytes, 128 times the sample
// plus the lane's column, gives a counter's offset; extracting the byte, multiplying and adding takes two or
// three instructions (H200, hist of 8773x5352, us: 18.2 instead of 19.8).
template <class Count>
__device__ __forceinline__ void count_vector(std::uint32_t* counts, const std::uint32_t (&words)[4],
                                             Count count) {
  constexpr std::uint32_t kBinBytes = kCounterColumns * sizeof(std::uint32_t);
  static_assert(kBinBytes <= kMaxSample);  // a weight of the dot product
  if (count >= kVectorPixels) {
    auto* const bytes = reinterpret_cast<unsigned char*>(counts);
    const std::uint32_t lane = threadIdx.x % kWarpLanes * static_cast<std::uint32_t>(sizeof(std::uint32_t));
#pragma unroll
    for (int k = 0; k < kVectorPixels; ++k) {
      const std::uint32_t at = __dp4a(words[k / 4], kBinBytes << (8 * (k % 4)), lane);
      atomicAdd(reinterpret_cast<std::uint32_t*>(bytes + at), 1U);
    }
    return;
  }
  std::uint32_t* column = counts + threadIdx.x % kWarpLanes;
  // Runs only at the end of a row, so using few registers matters more than speed.
  std::uint32_t a = words[0];
  std::uint32_t b = words[1];
  std::uint32_t c = words[2];
  std::uint32_t d = words[3];
#pragma unroll 1
  for (int k = static_cast<int>(count); k > 0; --k) {
    atomicAdd(column + (a & 0xFF) * kCounterColumns, 1U);
    a = __funnelshift_r(a, b, 8);
    b = __funnelshift_r(b, c, 8);
    c = __funnelshift_r(c, d, 8);
    d >>= 8;
  }
}

// Adds the block's counters to the image's. Each thread sums whole bins, starting at a column of its own so
// that a warp reads different banks. A barrier must precede it.
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
