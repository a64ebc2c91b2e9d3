// The best of the values that may part a histogram.
#pragma once

#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

struct Parting {
  double variance;
  int value;
};

// Returns the better one; of equal ones, the first in the histogram.
__device__ __forceinline__ Parting better(const Parting& a, const Parting& b) {
  const bool second = b.variance > a.variance || (b.variance == a.variance && b.value < a.value);
  return second ? b : a;
}

// All Threads threads of a block must call this; each gets the best. Barrier: the warps' best are complete
// before the block's is selected.
template <int Threads>
__device__ Parting block_best(Parting best) {
  __shared__ Parting warp_best[Threads / kWarpLanes];
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) {
    const double variance = __shfl_xor_sync(0xFFFFFFFF, best.variance, step);
    const int value = __shfl_xor_sync(0xFFFFFFFF, best.value, step);
    best = better(best, {variance, value});
  }
  if (threadIdx.x % kWarpLanes == 0) warp_best[threadIdx.x / kWarpLanes] = best;
  __syncthreads();
#pragma unroll
  for (const Parting& other : warp_best) best = better(best, other);
  return best;
}

}  // namespace imgpipe
