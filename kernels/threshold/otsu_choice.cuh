// Otsu's value of a histogram of 65,536 bins by a cluster of blocks; see otsu_choice.h.
#pragma once

#include "kernels/cluster_sums.cuh"
#include "kernels/threshold/otsu_choice.h"

namespace imgpipe {

// What a cluster finds where roundings could change which value is the best.
constexpr int kUndecided = -1;

// What the blocks tell each other, in the first one's shared memory.
struct OtsuChoice {
  static constexpr unsigned kMost = kWarpLanes;
  std::uint64_t too_small;        // sum of the first samples, whose class is too small
  unsigned long long least_bits;  // of the largest lower limit: doubles that are not negative order as these
  unsigned candidates;            // may be more than are there
  unsigned undecided, parted;
  OtsuBin candidate[kMost];
};

// A bin of this thread in turn: calls action(bin, OtsuParts) for those that have samples and may part.
template <class Action>
__device__ __forceinline__ void each_parting_bin(const std::uint64_t* counts, const OwnBins& own,
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

// The best of the candidates, by one warp; every lane gets it.
__device__ inline int best_candidate(const OtsuTotals& all, const OtsuChoice& choice) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  const bool is_one = lane < choice.candidates;
  const OtsuBin own = is_one ? choice.candidate[lane] : OtsuBin{};
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

// Cluster blockIdx.y: of plane blockIdx.y. Barriers: the choice is cleared before anybody adds to it; the
// class that is too small is known before the limits are made, the largest lower limit before candidates are
// taken, all candidates before the best is looked for.
template <int Blocks>
__global__ __launch_bounds__(kBinThreads, 1) void otsu_choice_kernel(Histogram<Device> histogram,
                                                                     int* values) {
  __shared__ OtsuChoice own_choice;
  __shared__ unsigned long long block_least;
  OtsuChoice& choice = *shared_of_block<Blocks>(&own_choice, 0);
  const bool is_first = cluster_rank<Blocks>() == 0 && threadIdx.x == 0;
  if (is_first) {
    own_choice.too_small = 0;
    own_choice.least_bits = 0;
    own_choice.candidates = own_choice.undecided = own_choice.parted = 0;
  }
  if (threadIdx.x == 0) block_least = 0;
  const std::uint64_t* const counts = histogram.row(blockIdx.y);
  const OwnBins own = own_bins<Blocks>(histogram.width);
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
  // The first bin behind which the class is large enough is this thread's: what lies before it is too small.
  if (large_enough(static_cast<double>(of_samples.before), all.samples) != OtsuParts::yes &&
      large_enough(static_cast<double>(of_samples.before + samples), all.samples) != OtsuParts::no) {
    std::uint64_t below = of_samples.before;
    std::uint64_t below_sum = of_sums.before;
    for (int i = 0; i < own.count; ++i) {
      const std::uint64_t count = __ldg(counts + own.first + i);
      below += count;
      const OtsuParts parts = large_enough(static_cast<double>(below), all.samples);
      if (count != 0 && parts == OtsuParts::perhaps) choice.undecided = 1;
      if (parts == OtsuParts::yes) break;
      below_sum += static_cast<std::uint64_t>(own.first + i) * count;
    }
    if (large_enough(static_cast<double>(of_samples.before + samples), all.samples) == OtsuParts::yes)
      choice.too_small = below_sum;
  }
  if (is_first && all.samples >= kMostOtsuSamples) choice.undecided = 1;
  cluster_barrier<Blocks>();
  const std::uint64_t too_small = choice.too_small;
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
  if (threadIdx.x % kWarpLanes == 0)
    atomicMax(&block_least, static_cast<unsigned long long>(__double_as_longlong(least)));
  if (__syncthreads_or(parted ? 1 : 0) != 0 && threadIdx.x == 0) {
    choice.parted = 1;
    atomicMax(&choice.least_bits, block_least);
  }
  cluster_barrier<Blocks>();
  least = __longlong_as_double(static_cast<long long>(choice.least_bits));
  if (parted && most >= least) {
    each_bin([&](const OtsuBin& bin, OtsuParts parts) {
      if (otsu_limits(otsu_point(all, bin)).most < least) return;
      if (parts != OtsuParts::yes) choice.undecided = 1;
      const unsigned place = atomicAdd(&choice.candidates, 1U);
      if (place < OtsuChoice::kMost) choice.candidate[place] = bin;
    });
  }
  cluster_barrier<Blocks>();
  if (cluster_rank<Blocks>() != 0 || threadIdx.x >= kWarpLanes) return;
  int value = kUndecided;
  if (choice.parted == 0 && choice.undecided == 0) {
    value = 0;
  } else if (choice.undecided == 0 && least > 0 && choice.candidates <= OtsuChoice::kMost) {
    value = best_candidate(all, choice);
  }
  if (threadIdx.x == 0) values[blockIdx.y] = value;
}

}  // namespace imgpipe
