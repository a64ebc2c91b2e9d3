// Computes lo, hi and the factor of the stretch from a histogram in device memory, with a block of threads.
#pragma once

#include "kernels/shared/block_sums.cuh"
#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/float_stretch.h"
#include "kernels/shared/stretch.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// (d * factor + 2^23) >> 24 with d = min(max(v - lo, 0), span) equals stretched(v, lo, hi) for every v.
// factor = floor(255 * 2^24 / span) + 1 exceeds the true quotient by at most 1, so the product exceeds it by
// at most d / 2^24 < 255 / 2^24. Values that must not round up are at least 1 / (2 span) >= 1 / 510 below the
// half, so none crosses it, and halves (span even) round up. It stays below 2^32: 255 * 2^24 + 255 + 2^23.
struct StretchFactor {
  int lo;
  int span;
  std::uint32_t factor;
};
constexpr std::uint32_t kStretchRound = 1U << 23;

IMGPIPE_HOST_DEVICE constexpr StretchFactor stretch_factor(int lo, int hi) {
  if (hi <= lo) return {0, kMaxSample, (1U << 24) + 1};  // v * (2^24 + 1) >> 24 is v
  const auto span = static_cast<std::uint32_t>(hi - lo);
  return {lo, hi - lo, (std::uint32_t{kMaxSample} << 24) / span + 1};
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t stretch_product(const StretchFactor& f, int v) {
  const int above = v - f.lo;
  const int d = above < 0 ? 0 : above > f.span ? f.span : above;
  return static_cast<std::uint32_t>(d) * f.factor + kStretchRound;
}

// Maps four samples; each result is byte 3 of a product.
__device__ __forceinline__ std::uint32_t stretch_word(std::uint32_t word, const StretchFactor& f) {
  std::uint32_t products[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int d = __viaddmin_s32_relu(static_cast<int>((word >> (8 * k)) & 0xFF), -f.lo,
                                      f.span);  // one instruction on Hopper
    products[k] = static_cast<std::uint32_t>(d) * f.factor + kStretchRound;
  }
  return pack_bytes<3>(products[0], products[1], products[2], products[3]);
}

__device__ inline FloatStretch float_stretch(const StretchFactor& f) {
  return float_stretch(f.lo, f.span);
}

// Maps four samples; each result is byte 0 of a sum.
__device__ __forceinline__ std::uint32_t stretch_word(std::uint32_t word, const FloatStretch& f) {
  std::uint32_t sums[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float value =
        __uint_as_float(__byte_perm(word, kByteInFloat, 0x7604U | static_cast<unsigned>(k) << 4));
    sums[k] = __float_as_uint(
        __fmaf_rn(__saturatef((value - f.first) * f.scale), static_cast<float>(kMaxSample), kByteRound));
  }
  return pack_bytes<0>(sums[0], sums[1], sums[2], sums[3]);
}

// Returns the factor of plane c to all threads. All of a block's threads, at least kBins, must call this. lo
// is the number of bins whose count from below is within the clipped share. Barriers: sums_of_bins(), two
// counts.
__device__ inline StretchFactor block_stretch_factor(const Histogram<Device>& histogram,
                                                     const ContrastParameters& parameters, int c) {
  const unsigned bin = threadIdx.x;
  const bool counts_bin = bin < kBins;
  std::uint64_t count = 0;
  if (counts_bin) {
    for (int plane = 0; plane < histogram.height; ++plane) {
      if (parameters.stretch == Stretch::joint || plane == c) count += histogram.row(plane)[bin];
    }
  }
  const auto [below, total] = sums_of_bins(count);    // below: this bin and all before it
  const std::uint64_t above = total - below + count;  // this bin and all after it
  const int lo = __syncthreads_count(counts_bin && below <= clip_count(total, parameters.clip_low) ? 1 : 0);
  const int hi =
      kBins - 1 - __syncthreads_count(counts_bin && above <= clip_count(total, parameters.clip_high) ? 1 : 0);
  return stretch_factor(lo, hi);
}

}  // namespace imgpipe
