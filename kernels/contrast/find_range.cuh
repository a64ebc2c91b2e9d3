// lo and hi of the stretch, found by a block in a histogram of any power of two from 256 to 65,536 bins in
// device memory.
#pragma once

#include "kernels/contrast/contrast.h"
#include "kernels/device_rows.cuh"

namespace imgpipe {

constexpr int kFindThreads = 1024;  // a warp has 1 / 32 of the bins

// The counters of some planes of a histogram, added up.
struct CountedPlanes {
  Histogram<Device> histogram;
  int first, end;  // planes

  __device__ std::uint64_t count(std::int64_t bin) const {
    std::uint64_t sum = 0;
    for (int plane = first; plane < end; ++plane) sum += histogram.row(plane)[bin];
    return sum;
  }
};

// The sum of this lane's value and those of the lanes before it.
__device__ inline std::uint64_t sum_up_to_lane(std::uint64_t value) {
#pragma unroll
  for (unsigned step = 1; step < kWarpLanes; step *= 2) {
    const std::uint64_t other = __shfl_up_sync(0xFFFFFFFF, value, step);
    if (threadIdx.x % kWarpLanes >= step) value += other;
  }
  return value;
}

// A warp looks for the first bin, from the lower end or from the upper one, up to which more than `clip`
// samples lie; the last bin where there is none. `parts`: the counts of the 32 equal parts of the histogram.
// Each round leaves the 32nd part of the bins.
__device__ inline int first_bin_beyond(const CountedPlanes& counted, const std::uint64_t* parts,
                                       std::uint64_t clip, bool from_above) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  const std::int64_t bins = counted.histogram.width;
  const auto bin_at = [&](std::int64_t place) { return from_above ? bins - 1 - place : place; };
  std::int64_t begin = 0;  // in order of `from_above`
  std::int64_t length = bins;
  std::uint64_t before = 0;
  std::uint64_t own = parts[from_above ? kWarpLanes - 1 - lane : lane];
  while (true) {
    const std::int64_t each = length < kWarpLanes ? 1 : length / kWarpLanes;
    const std::uint64_t up_to = before + sum_up_to_lane(own);
    const unsigned beyond = __ballot_sync(0xFFFFFFFF, up_to > clip ? 1 : 0);
    if (beyond == 0) return static_cast<int>(bin_at(bins - 1));
    const int first = __ffs(static_cast<int>(beyond)) - 1;
    before = __shfl_sync(0xFFFFFFFF, up_to - own, first);
    begin += first * each;
    length = each;
    if (length == 1) return static_cast<int>(bin_at(begin));
    const std::int64_t share = length < kWarpLanes ? 1 : length / kWarpLanes;
    own = 0;
#pragma unroll 8
    for (std::int64_t i = 0; i < share; ++i) {
      const std::int64_t place = lane * share + i;
      if (place < length) own += counted.count(bin_at(begin + place));
    }
  }
}

}  // namespace imgpipe
