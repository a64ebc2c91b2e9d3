// Otsu's value of 65,536 bins, by one block.
//
// A bin's class follows from that of the bin before it, rounding by rounding (otsu_take()): one thread must
// go from bin to bin. What it does on the way is little, because everything else is done beside it, and what
// it takes for granted is proved afterwards, by all threads:
//
//   chunk of kOtsuBins bins    k        k-1           k-2              k-3            k-4
//   in one step                counts   shares are    which bins are   their means    every bin's class
//                              are      added up      gone to, and     are made       is held against
//                              read                   with what                       otsu_take(), variances
//
// The mean is a quotient, sum / share. Shares are known before, so the thread multiplies by 1 / share and
// corrects the product once, by fused operations: five operations of which each waits for the one before,
// where a division waits for some twenty. A bin without samples leaves the mean as it is once it has been
// multiplied and divided by the same share: only the first of several is gone to. Both are true of nearly
// all numbers. A class that is not to the last bit what otsu_take() makes of the one before it shows, and
// then all is done again with divisions, bin by bin.
//
// H200, 2026-11-22: 1.8 ms for a photo, 1.4 for noise, 1.3 for 12 bits in 16; so it is left to histograms for
// which otsu_choice.cuh finds no value.
#pragma once

#include "kernels/threshold/parting.cuh"
#include "kernels/threshold/threshold.h"

namespace imgpipe {

constexpr int kOtsuBins = 256;  // and threads
constexpr int kOtsuWarps = kOtsuBins / kWarpLanes;

// What the mean of a bin's class is made with.
struct OtsuStep {
  double share_before;
  double product;  // value times its samples' share
  double share;
  double inverse;  // 1 / share
};

// Chunks that are between two of the steps above have places of their own: place k % n. 40 KB.
struct OtsuShared {
  double part[5][kOtsuBins];            // by bin: its samples' share
  double share[4][kOtsuBins + 1];       // before the chunk, then by bin: the class's
  std::uint16_t gone_to[3][kOtsuBins];  // by bin: how many bins of the chunk, to this one, are gone to
  int count[2];                         // of those of the chunk
  OtsuStep steps[2][kOtsuBins];         // of those
  double mean[2][kOtsuBins + 1];        // before the chunk, then of those
  int warp_count[kOtsuWarps];
  std::uint64_t warp_samples[kOtsuWarps], warp_sum[kOtsuWarps];
};

class OtsuSearch {
 public:
  __device__ OtsuSearch(const std::uint64_t* counts, int bins, OtsuShared& shared)
      : counts_(counts), chunks_(bins / kOtsuBins), shared_(shared), bin_(static_cast<int>(threadIdx.x)) {}

  // All threads together; every thread gets the value. Barriers: at the end of each step.
  __device__ int value(bool by_divisions) {
    undo_prediction();
    if (by_divisions || !search(false)) search(true);
    return block_best<kOtsuBins>(best_).value;
  }

 private:
  // The mean of all, and a sample's share.
  __device__ void undo_prediction() {
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

  // False: something that was taken for granted is not so. With `by_divisions` nothing is.
  __device__ bool search(bool by_divisions) {
    best_ = {0, 0};
    carried_share_ = 0;
    carried_mean_ = 0;
    bool right = true;
    for (int k = 0; k < chunks_ + 4; ++k) {
      if (is_chunk(k)) read(k);
      if (is_chunk(k - 4)) right = hold(k - 4) && right;
      const bool listed = is_chunk(k - 2) && is_gone_to(k - 2, by_divisions);
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

  // One thread.
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

  // Whether neither class is too small behind a bin; the same for all bins from the first such one to the
  // last.
  __device__ static bool parts(double share) {
    OtsuClass below{share, 0};
    return otsu_take(below, 0, 0);
  }

  __device__ bool is_gone_to(int chunk, bool by_divisions) const {
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
    shared_.gone_to[chunk % 3][bin_] = static_cast<std::uint16_t>(up_to);
    if (bin_ == 0) shared_.count[chunk % 2] = all;
    if (!listed) return;
    const double share = shared_.share[chunk % 4][bin_ + 1];
    shared_.steps[chunk % 2][up_to - 1] = {
        shared_.share[chunk % 4][bin_],
        rounded_product(chunk * kOtsuBins + bin_, shared_.part[chunk % 5][bin_]), share, 1 / share};
  }

  // One thread: the only work that waits for itself. Before the first class that is large enough the mean
  // is 0.
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

  // The mean behind bin `bin` of the chunk, -1: before it.
  __device__ double mean_after(int chunk, int bin) const {
    return shared_.mean[chunk % 2][bin < 0 ? 0 : shared_.gone_to[chunk % 3][bin]];
  }

  // This thread's bin: whether its class is the one that follows from the one before, and how well it parts.
  // A class that is too small is not looked at: before the first that parts the mean is 0 whatever it is
  // multiplied by, behind the last no other counts.
  __device__ bool hold(int chunk) {
    const double* const share = shared_.share[chunk % 4];
    if (!parts(share[bin_ + 1])) return true;
    const int value = chunk * kOtsuBins + bin_;
    OtsuClass below{share[bin_], mean_after(chunk, bin_ - 1)};
    otsu_take(below, value, shared_.part[chunk % 5][bin_]);
    best_ = better(best_, {otsu_variance(below, mean_of_all_), value});
    return below.share == share[bin_ + 1] && below.mean == mean_after(chunk, bin_);
  }

  const std::uint64_t* const counts_;
  const int chunks_;
  OtsuShared& shared_;
  const int bin_;  // of a chunk: this thread's
  double one_ = 0, mean_of_all_ = 0;
  double carried_share_ = 0, carried_mean_ = 0;  // of the threads that need them
  Parting best_{0, 0};                           // a variance of 0 parts nothing: value 0 stands for that
};

}  // namespace imgpipe
