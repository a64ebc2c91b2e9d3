// The table of equalize for 8-bit samples, made by one block.
#pragma once

#include "kernels/equalize/equalize.h"
#include "kernels/shared/block_sums.cuh"

namespace imgpipe {

// All kBins threads of a block must call this; each makes one entry. Barriers: the warps' sums are complete
// before they are added; the count of the first value that occurs is set before its use; the table is
// complete before lookups.
__device__ inline void block_equalize_table(const std::uint64_t* counts, Sample8 (&table)[kBins]) {
  __shared__ std::uint64_t of_first;
  const unsigned bin = threadIdx.x;
  const std::uint64_t count = counts[bin];
  const auto [not_above, total] = sums_of_bins(count);
  if (count != 0 && not_above == count) of_first = count;
  __syncthreads();
  const std::uint64_t first = of_first;
  Sample8 becomes = static_cast<Sample8>(bin);
  if (first != total) {
    const float scale = equalize_scale(kMaxSample, total - first);
    becomes = not_above <= first ? Sample8{0}
                                 : static_cast<Sample8>(equalized(not_above - first, scale, kMaxSample));
  }
  table[bin] = becomes;
  __syncthreads();
}

}  // namespace imgpipe
