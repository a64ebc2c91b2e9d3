// Sums over the threads of a block that have a bin each.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

struct BlockSums {
  std::uint64_t up_to;  // this thread's value and those of all before it
  std::uint64_t total;
};

// All threads of a block call this together, once in a kernel; those from kBins on have no value. Barrier:
// the warps' sums are complete before they are added up.
__device__ __forceinline__ BlockSums sums_of_bins(std::uint64_t value) {
  __shared__ std::uint64_t warp_sums[kBins / kWarpLanes];
  const unsigned bin = threadIdx.x;
  BlockSums sums{sum_up_to_lane(value), 0};
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
