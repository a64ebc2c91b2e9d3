// Sums over the bins of a histogram, one bin per thread of a block.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

struct BlockTotals {
  std::uint64_t up_to;  // of this thread and all before it
  std::uint64_t total;
};

// All threads of a block must call this, once per kernel; the values of threads from kBins on are ignored.
// The barrier completes the warps' sums before they are added up.
__device__ __forceinline__ BlockTotals sums_of_bins(std::uint64_t value) {
  __shared__ std::uint64_t warp_sums[kBins / kWarpLanes];
  const unsigned bin = threadIdx.x;
  BlockTotals sums{sum_up_to_lane(value), 0};
  if (bin < kBins && bin % kWarpLanes == kWarpLanes - 1) warp_sums[bin / kWarpLanes] = sums.up_to;
  __syncthreads();
#pragma unroll
  for (unsigned warp = 0; warp < kBins / kWarpLanes; ++warp) {
    if (warp < bin / kWarpLanes) sums.up_to += warp_sums[warp];
    sums.total += warp_sums[warp];
  }
  return sums;
}

}  // namespace imgpipe
