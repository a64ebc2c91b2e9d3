// Computes Otsu's value of 65,536 bins with one block.
//
// Each bin's class depends on that of the previous bin, rounding by rounding (otsu_add()), so one thread
// must visit the bins in order. The other threads do the remaining work in a pipeline, and afterwards verify
// the assumptions that shorten that thread's steps:
//
//   chunk of kOtsuBins bins    k        k-1           k-2              k-3            k-4
//   in one step                counts   shares are    bins to visit    their means    classes are checked
//                              are      summed        are selected,    are computed   against otsu_add(),
//                              read                   with operands                   variances computed
//
// The mean is a quotient, sum / share. As shares are known in advance, the thread multiplies by 1 / share and
// corrects the product once with fused operations: five dependent operations, where a division has some
// twenty. A bin without samples leaves the mean unchanged once it has been multiplied and divided by the same
// share, so the thread visits only the first of several such bins. Both hold for nearly all numbers. If a
// class differs in any bit from the result of otsu_add(), the search is repeated with divisions, bin by bin.
//
// H200, 2026-11-22: 1.8 ms for a photo, 1.4 for noise, 1.3 for 12 bits in 16. So this code only handles
// histograms for which otsu_choice.cuh finds no value.
#pragma once

#include "kernels/threshold/parting.cuh"
#include "kernels/threshold/threshold.h"

namespace imgpipe {

constexpr int kOtsuBins = 256;  // per chunk, one per thread
constexpr int kOtsuWarps = kOtsuBins / kWarpLanes;

// The operands of the mean of a bin's class.
struct OtsuStep {
  double share_before;
  double product;  // value times the share of its samples
  double share;
  double inverse;  // 1 / share
};

// Each array holds chunk k in slot k % n, from the step that writes it to the last one that reads it. 40 KB.
struct OtsuShared {
  double part[5][kOtsuBins];       // by bin: the share of its samples
  double share[4][kOtsuBins + 1];  // before the chunk, then by bin: the share of the class
  std::uint16_t visited_up_to[3]
                             [kOtsuBins];  // by bin: the number of visited bins of the chunk up to this one
  int count[2];                            // of visited bins in the chunk
  OtsuStep steps[2][kOtsuBins];            // by visited bin
  double mean[2][kOtsuBins + 1];           // before the chunk, then by visited bin
  int warp_count[kOtsuWarps];
  std::uint64_t warp_samples[kOtsuWarps], warp_sum[kOtsuWarps];
};

class OtsuSearch {
 public:
  __device__ OtsuSearch(const std::uint64_t* counts, int bins, OtsuShared& shared)
      : counts_(counts), chunks_(bins / kOtsuBins), shared_(shared), bin_(static_cast<int>(threadIdx.x)) {}

  // All threads must call this; each gets the value. Barriers: at the end of each step.
  __device__ int value(bool by_divisions) {
    sum_samples();
    if (by_divisions || !search(false)) search(true);
    return block_best<kOtsuBins>(best_).value;
  }

 private:
  // Computes the mean of all samples, and a sample's share.
  __device__ void sum_samples() {
    std::uint64_t samples = 0;
    std::uint64_t sum = 0;
#pragma unroll 8
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      const int v = chunk * kOtsuBins + bin_;
      samples += counts_[v];
      sum += static_cast<unsigned>(v) * counts_[v];
    }
#pragma unroll
    for (int step = kWarpLanes / 2; step > 0; step /= 2) {
      samples += __shfl_xor_sync(0xFFFFFFFF, samples, step);
      sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
    }
    if (bin_ % kWarpLanes == 0) {
      shared_.warp_samples[bin_ / kWarpLanes] = samples;
      shared_.warp_sum[bin_ / kWarpLanes] = sum;
    }
    __syncthreads();
    samples = 0;
    sum = 0;
    for (int warp = 0; warp < kOtsuWarps; ++warp) {
      samples += shared_.warp_samples[warp];
      sum += shared_.warp_sum[warp];
    }
    one_ = 1.0 / static_cast<double>(samples);
    mean_of_all_ = rounded_product(static_cast<double>(sum), one_);
  }

  // Returns false if an assumption does not hold; `by_divisions` makes none.
  __device__ bool search(bool by_divisions) {
    best_ = {0, 0};
    carried_share_ = 0;
    carried_mean_ = 0;
    bool right = true;
    for (int k = 0; k < chunks_ + 4; ++k) {
      if (is_chunk(k)) read(k);
      if (is_chunk(k - 4)) right = hold(k - 4) && right;
      const bool listed = is_chunk(k - 2) && is_visited(k - 2, by_divisions);
      const unsigned lanes = __ballot_sync(0xFFFFFFFF, listed ? 1 : 0);
      if (bin_ % kWarpLanes == 0) shared_.warp_count[bin_ / kWarpLanes] = __popc(lanes);
      __syncthreads();
      if (is_chunk(k - 2)) list(k - 2, listed, lanes);
      if (bin_ == 0 && is_chunk(k - 3)) make_means(k - 3, by_divisions);
      if (bin_ == kWarpLanes && is_chunk(k - 1)) add_shares(k - 1);
      __syncthreads();
    }
    return __syncthreads_and(right ? 1 : 0) != 0;
  }

  __device__ bool is_chunk(int k) const {
    return k >= 0 && k < chunks_;
  }

  __device__ void read(int chunk) {
    shared_.part[chunk % 5][bin_] =
        rounded_product(static_cast<double>(counts_[chunk * kOtsuBins + bin_]), one_);
  }

  // Runs in one thread.
  __device__ void add_shares(int chunk) {
    const double* const part = shared_.part[chunk % 5];
    double* const share = shared_.share[chunk % 4];
    share[0] = carried_share_;
#pragma unroll 8
    for (int i = 0; i < kOtsuBins; ++i) {
      carried_share_ = rounded_sum(carried_share_, part[i]);
      share[i + 1] = carried_share_;
    }
  }

  // Whether both classes split after a bin are large enough; the bins for which this holds are contiguous.
  __device__ static bool parts(double share) {
    OtsuClass below{share, 0};
    return otsu_add(below, 0, 0);
  }

  __device__ bool is_visited(int chunk, bool by_divisions) const {
    if (!parts(shared_.share[chunk % 4][bin_ + 1])) return false;
    const double* const part = shared_.part[chunk % 5];
    return by_divisions || bin_ == 0 || part[bin_] != 0 || part[bin_ - 1] != 0;
  }

  __device__ void list(int chunk, bool listed, unsigned lanes) {
    const int lane = bin_ % kWarpLanes;
    int before = 0;
    int all = 0;
    for (int warp = 0; warp < kOtsuWarps; ++warp) {
      if (warp < bin_ / kWarpLanes) before += shared_.warp_count[warp];
      all += shared_.warp_count[warp];
    }
    const int up_to = before + __popc(lanes & (0xFFFFFFFF >> (kWarpLanes - 1 - lane)));
    shared_.visited_up_to[chunk % 3][bin_] = static_cast<std::uint16_t>(up_to);
    if (bin_ == 0) shared_.count[chunk % 2] = all;
    if (!listed) return;
    const double share = shared_.share[chunk % 4][bin_ + 1];
    shared_.steps[chunk % 2][up_to - 1] = {
        shared_.share[chunk % 4][bin_],
        rounded_product(chunk * kOtsuBins + bin_, shared_.part[chunk % 5][bin_]), share, 1 / share};
  }

  // Runs in one thread: a chain of dependent operations. The mean is 0 before the first class that is large
  // enough (kMinShare).
  __device__ void make_means(int chunk, bool by_divisions) {
    const OtsuStep* const steps = shared_.steps[chunk % 2];
    double* const means = shared_.mean[chunk % 2];
    const int count = shared_.count[chunk % 2];
    means[0] = carried_mean_;
    if (by_divisions) {
      for (int i = 0; i < count; ++i) {
        carried_mean_ = rounded_sum(rounded_product(carried_mean_, steps[i].share_before), steps[i].product) /
                        steps[i].share;
        means[i + 1] = carried_mean_;
      }
      return;
    }
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const OtsuStep step = steps[i];
      const double sum = rounded_sum(rounded_product(carried_mean_, step.share_before), step.product);
      const double about = rounded_product(sum, step.inverse);
      carried_mean_ = __fma_rn(__fma_rn(-step.share, about, sum), step.inverse, about);
      means[i + 1] = carried_mean_;
    }
  }

  // Returns the mean after bin `bin` of the chunk; for `bin` = -1, before the chunk.
  __device__ double mean_after(int chunk, int bin) const {
    return shared_.mean[chunk % 2][bin < 0 ? 0 : shared_.visited_up_to[chunk % 3][bin]];
  }

  // Checks this thread's bin: returns whether its class follows from the previous one, and updates the best
  // parting. Skips classes that are too small: before the first bin that parts, the mean is 0 whatever it is
  // multiplied by; after the last such bin, no class is used.
  __device__ bool hold(int chunk) {
    const double* const share = shared_.share[chunk % 4];
    if (!parts(share[bin_ + 1])) return true;
    const int value = chunk * kOtsuBins + bin_;
    OtsuClass below{share[bin_], mean_after(chunk, bin_ - 1)};
    otsu_add(below, value, shared_.part[chunk % 5][bin_]);
    best_ = better(best_, {otsu_variance(below, mean_of_all_), value});
    return below.share == share[bin_ + 1] && below.mean == mean_after(chunk, bin_);
  }

  const std::uint64_t* const counts_;
  const int chunks_;
  OtsuShared& shared_;
  const int bin_;  // this thread's bin of a chunk
  double one_ = 0, mean_of_all_ = 0;
  double carried_share_ = 0, carried_mean_ = 0;  // only in the threads that need them
  Parting best_{0, 0};  // a variance of 0 does not part the histogram and yields value 0
};

}  // namespace imgpipe
