// Finds the limits lo and hi of the stretch from a histogram in device memory, with a cluster of blocks. The
// number of bins is any power of two from 256 to 65,536.
#pragma once

#include "kernels/contrast/contrast.h"
#include "kernels/shared/cluster_sums.cuh"

namespace imgpipe {

// The summed counters of planes first..end-1 of a histogram.
struct CountedPlanes {
  Histogram<Device> histogram;
  int first, end;  // planes

  __device__ std::uint64_t count(std::int64_t bin) const {
    std::uint64_t sum = 0;
    for (int plane = first; plane < end; ++plane) sum += __ldg(histogram.row(plane) + bin);
    return sum;
  }
};

// Cluster blockIdx.y finds the range of plane blockIdx.y; with Stretch::joint, the only cluster finds the
// joint range of all planes. Each limit lies in the bins of exactly one thread: counted from that limit's end
// of the histogram, the number of samples before its bins is at most the clip count, and the number including
// them exceeds it.
template <int Blocks>
__global__ __launch_bounds__(kBinThreads, 1) void find_range_kernel(Histogram<Device> histogram,
                                                                    ContrastParameters parameters,
                                                                    StretchRange* ranges) {
  const bool joint = parameters.stretch == Stretch::joint;
  const auto planes = static_cast<int>(histogram.height);
  const auto own_plane = static_cast<int>(blockIdx.y);
  const CountedPlanes counted{histogram, joint ? 0 : own_plane, joint ? planes : own_plane + 1};
  const ThreadBins own = thread_bins<Blocks>(histogram.width);
  std::uint64_t sum = 0;
  for (int plane = counted.first; plane < counted.end; ++plane) {
#pragma unroll 8
    for (int i = 0; i < own.count; ++i) sum += __ldg(histogram.row(plane) + own.first + i);
  }
  const ClusterSums sums = cluster_sums<Blocks>(sum);
  const auto set = [&](int StretchRange::*limit, std::int64_t bin) {
    for (int plane = counted.first; plane < counted.end; ++plane)
      ranges[plane].*limit = static_cast<int>(bin);
  };
  const std::uint64_t clip_low = clip_count(sums.total, parameters.clip_low);
  const std::uint64_t clip_high = clip_count(sums.total, parameters.clip_high);
  std::uint64_t below = sums.before;
  std::uint64_t above = sums.total - sums.before - sum;
  if (below <= clip_low && below + sum > clip_low) {
    std::int64_t bin = own.first;
    while ((below += counted.count(bin)) <= clip_low) ++bin;
    set(&StretchRange::lo, bin);
  }
  if (above <= clip_high && above + sum > clip_high) {
    std::int64_t bin = own.first + own.count - 1;
    while ((above += counted.count(bin)) <= clip_high) --bin;
    set(&StretchRange::hi, bin);
  }
  if (sums.total == 0 && own.first == 0) {
    set(&StretchRange::lo, histogram.width - 1);
    set(&StretchRange::hi, 0);
  }
  cluster_barrier<Blocks>();
}

}  // namespace imgpipe
