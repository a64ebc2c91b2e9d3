// Finds Otsu's value of a histogram of 65,536 bins with a cluster of blocks; see otsu_choice.h.
#pragma once

#include "kernels/shared/cluster_sums.cuh"
#include "kernels/threshold/otsu_choice.h"

namespace imgpipe {

// The result if roundings could change which value is the best.
constexpr int kUndecided = -1;

// Data that a block shares with the others of its cluster, which only read it and add it up themselves.
struct OtsuShare {
  static constexpr unsigned kMost = kWarpLanes;
  std::uint64_t too_small;      // sum of the first samples, whose class is too small; 0 in most blocks
  unsigned long long min_bits;  // of the largest lower limit; doubles >= 0 order as their bits do
  unsigned undecided, parted;
  unsigned candidates;  // may exceed the capacity of `candidate`
  OtsuBin candidate[kMost];
};

// Calls action(bin, OtsuParts) for each bin of this thread that has samples and may part the histogram.
template <class Action>
__device__ __forceinline__ void each_parting_bin(const std::uint64_t* counts, const ThreadBins& own,
                                                 const OtsuTotals& all, std::uint64_t samples,
                                                 std::uint64_t sum, const Action& action) {
  for (int i = 0; i < own.count; ++i) {
    const std::uint64_t count = __ldg(counts + own.first + i);
    if (count == 0) continue;
    samples += count;
    sum += static_cast<std::uint64_t>(own.first + i) * count;
    const auto below = static_cast<double>(samples);
    if (large_enough(below, all.samples) == OtsuParts::no) continue;
    const OtsuParts parts = large_enough(all.samples - below, all.samples);
    if (parts != OtsuParts::no)
      action(OtsuBin{static_cast<int>(own.first + i), below, static_cast<double>(sum)}, parts);
  }
}

// Returns the best of up to 32 candidates to every lane of a warp; each lane has one or none.
__device__ inline int best_candidate(const OtsuTotals& all, const OtsuBin& own, bool is_one) {
  const LongDouble variance = is_one ? exact_variance(all, own) : LongDouble{};
  OtsuBin best = own;
  LongDouble most = variance;
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) {
    const OtsuBin other{__shfl_xor_sync(0xFFFFFFFF, best.value, step),
                        __shfl_xor_sync(0xFFFFFFFF, best.samples, step),
                        __shfl_xor_sync(0xFFFFFFFF, best.sum, step)};
    const LongDouble others{__shfl_xor_sync(0xFFFFFFFF, most.high, step),
                            __shfl_xor_sync(0xFFFFFFFF, most.low, step)};
    const double more = (others - most).high;
    if (more > 0 || (more == 0 && other.value < best.value)) {
      best = other;
      most = others;
    }
  }
  const bool beaten = !is_one || own.value == best.value || surely_better(all, best, most, own, variance);
  return __all_sync(0xFFFFFFFF, beaten ? 1 : 0) != 0 ? best.value : kUndecided;
}

// Combines the shares of the whole cluster; runs in one warp of it.
template <int Blocks>
__device__ int chosen_value(const OtsuTotals& all, OtsuShare& own_share, double least) {
  unsigned undecided = 0;
  unsigned parted = 0;
  unsigned candidates = 0;
  OtsuBin own{};
#pragma unroll
  for (int i = 0; i < Blocks; ++i) {
    const OtsuShare& share = *shared_of_block<Blocks>(&own_share, i);
    undecided |= share.undecided;
    parted |= share.parted;
    const unsigned position = threadIdx.x % kWarpLanes - candidates;  // wraps for earlier lanes
    if (position < min(share.candidates, OtsuShare::kMost)) own = share.candidate[position];
    candidates += share.candidates;
  }
  if (undecided != 0) return kUndecided;
  if (parted == 0) return 0;
  if (!(least > 0) || candidates > OtsuShare::kMost) return kUndecided;
  return best_candidate(all, own, threadIdx.x % kWarpLanes < candidates);
}

// Cluster blockIdx.y processes plane blockIdx.y. Barriers: a share is cleared before any thread adds to it;
// the sum of the class that is too small is known before the limits are computed, the largest lower limits
// before candidates are selected, and all candidates before the best is chosen; blocks stay alive until then.
template <int Blocks>
__global__ __launch_bounds__(kBinThreads, 1) void otsu_choice_kernel(Histogram<Device> histogram,
                                                                     int* values) {
  __shared__ OtsuShare share;
  if (threadIdx.x == 0) {
    share.too_small = 0;
    share.min_bits = 0;
    share.undecided = share.parted = share.candidates = 0;
  }
  const std::uint64_t* const counts = histogram.row(blockIdx.y);
  const ThreadBins own = thread_bins<Blocks>(histogram.width);
  std::uint64_t samples = 0;
  std::uint64_t sum = 0;
#pragma unroll 8
  for (int i = 0; i < own.count; ++i) {
    const std::uint64_t count = __ldg(counts + own.first + i);
    samples += count;
    sum += static_cast<std::uint64_t>(own.first + i) * count;
  }
  const ClusterSums of_samples = cluster_sums<Blocks>(samples);
  cluster_barrier<Blocks>();
  const ClusterSums of_sums = cluster_sums<Blocks>(sum);
  const OtsuTotals all{.samples = static_cast<double>(of_samples.total),
                       .sum = static_cast<double>(of_sums.total)};
  const auto below_of = [&](std::uint64_t count) {
    return large_enough(static_cast<double>(count), all.samples);
  };
  // The first bin after which the class is large enough belongs to this thread; bins before it are too_small.
  if (below_of(of_samples.before) != OtsuParts::yes &&
      below_of(of_samples.before + samples) != OtsuParts::no) {
    std::uint64_t below = of_samples.before;
    std::uint64_t below_sum = of_sums.before;
    for (int i = 0; i < own.count; ++i) {
      const std::uint64_t count = __ldg(counts + own.first + i);
      below += count;
      const OtsuParts parts = below_of(below);
      if (count != 0 && parts == OtsuParts::perhaps) atomicOr(&share.undecided, 1U);
      if (parts == OtsuParts::yes) {
        share.too_small = below_sum;
        break;
      }
      below_sum += static_cast<std::uint64_t>(own.first + i) * count;
    }
  }
  if (threadIdx.x == 0 && all.samples >= kMaxOtsuSamples) atomicOr(&share.undecided, 1U);
  cluster_barrier<Blocks>();
  std::uint64_t too_small = 0;
#pragma unroll
  for (int i = 0; i < Blocks; ++i) too_small += shared_of_block<Blocks>(&share, i)->too_small;
  double least = 0;
  double most = 0;
  bool parted = false;
  const auto each_bin = [&](const auto& action) {
    each_parting_bin(counts, own, all, of_samples.before, of_sums.before - too_small, action);
  };
  each_bin([&](const OtsuBin& bin, OtsuParts parts) {
    const OtsuLimits limits = otsu_limits(otsu_point(all, bin));
    if (parts == OtsuParts::yes) least = fmax(least, limits.least);
    most = fmax(most, limits.most);
    parted = true;
  });
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2)
    least = fmax(least, __shfl_xor_sync(0xFFFFFFFF, least, step));
  const bool warp_parted = __any_sync(0xFFFFFFFF, parted ? 1 : 0) != 0;
  if (threadIdx.x % kWarpLanes == 0 && warp_parted) {
    atomicOr(&share.parted, 1U);
    atomicMax(&share.min_bits, static_cast<unsigned long long>(__double_as_longlong(least)));
  }
  cluster_barrier<Blocks>();
  unsigned long long min_bits = 0;
#pragma unroll
  for (int i = 0; i < Blocks; ++i) min_bits = max(min_bits, shared_of_block<Blocks>(&share, i)->min_bits);
  least = __longlong_as_double(static_cast<long long>(min_bits));
  if (parted && most >= least) {
    each_bin([&](const OtsuBin& bin, OtsuParts parts) {
      if (otsu_limits(otsu_point(all, bin)).most < least) return;
      if (parts != OtsuParts::yes) atomicOr(&share.undecided, 1U);
      const unsigned position = atomicAdd(&share.candidates, 1U);
      if (position < OtsuShare::kMost) share.candidate[position] = bin;
    });
  }
  cluster_barrier<Blocks>();
  if (cluster_rank<Blocks>() == 0 && threadIdx.x < kWarpLanes) {
    const int value = chosen_value<Blocks>(all, share, least);
    if (threadIdx.x == 0) values[blockIdx.y] = value;
  }
  cluster_barrier<Blocks>();
}

}  // namespace imgpipe
