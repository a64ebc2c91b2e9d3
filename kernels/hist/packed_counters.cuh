// Counters of 16-bit samples in shared memory: 65,536 of 32 bits (256 KiB) are more than a multiprocessor
// has, so two share a word, and what passes 16 bits goes to the image's counters at once.
//
//   value   0 ............ words - 1 | words ........ 2 words - 1
//   word    v, lower half            | v - words, upper half
//
// Neighbouring values lie in neighbouring banks. Where shared memory holds a part of the values only, each
// part is counted by blocks of its own, which read the whole plane.
#pragma once

#include "kernels/device_rows.cuh"

namespace imgpipe {

constexpr std::uint32_t kWideBins = 65536;
constexpr std::uint32_t kHalfWraps = 1U << 16;

// The counters of one of `Parts` equal parts of the values, and the image's, which are complete when every
// block has flushed its own. Total: of 64 bits, or of 32 where no count passes them.
template <int Parts, class Total = unsigned long long>
struct PackedCounters {
  static constexpr std::uint32_t kValues = kWideBins / Parts;
  static constexpr std::uint32_t kWords = kValues / 2;
  static constexpr std::uint32_t kBytes = kWords * 4;

  std::uint32_t* words;  // in shared memory, on a 16-byte boundary
  Total* totals;         // of the plane
  std::uint32_t part;

  __device__ bool holds(std::uint32_t value) const { return Parts == 1 || value / kValues == part; }
  __device__ static bool is_upper(std::uint32_t value) { return (value & kWords) != 0; }
  __device__ static std::uint32_t word_of(std::uint32_t value) { return value & (kWords - 1); }

  __device__ void clear() {
    auto* const vectors = reinterpret_cast<uint4*>(words);
    for (std::uint32_t i = threadIdx.x; i < kWords / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
  }

  // One more of a value that it holds. Returns the word before.
  __device__ std::uint32_t take(std::uint32_t value) {
    return atomicAdd(words + word_of(value), is_upper(value) ? kHalfWraps : 1U);
  }
  // Whether `count` of a value, added to the word `before`, passed its half.
  __device__ static bool wraps(std::uint32_t value, std::uint32_t before, std::uint32_t count) {
    const std::uint32_t half = is_upper(value) ? before >> 16 : before & (kHalfWraps - 1);
    return half + count >= kHalfWraps;
  }
  // Where it did. Additions to a word happen one after the other, and each sees what was there before it; so
  // whoever makes a half pass its end knows it, and no order of the threads loses anything. An upper half
  // that passes its end loses 2^16. A lower half adds 1 to the upper one, which is taken back here; either
  // step may make the upper half pass an end once more, and that shows in what was there before.
  __device__ void wrapped(std::uint32_t value, std::uint32_t before) {
    const std::uint32_t base = part * kValues + word_of(value);
    Total* const lower = totals + base;
    Total* const upper = lower + kWords;
    constexpr Total kLost = kHalfWraps;
    if (is_upper(value)) {
      atomicAdd(upper, kLost);
      return;
    }
    atomicAdd(lower, kLost);
    if (before >> 16 == kHalfWraps - 1) atomicAdd(upper, kLost);
    const std::uint32_t then = atomicSub(words + word_of(value), kHalfWraps);
    if (then >> 16 == 0) atomicAdd(upper, Total{0} - kLost);
  }

  // `count` of a value, 1 to 65,535.
  __device__ void add(std::uint32_t value, std::uint32_t count) {
    if (!holds(value)) return;
    const std::uint32_t before = atomicAdd(words + word_of(value), is_upper(value) ? count << 16 : count);
    if (wraps(value, before, count)) wrapped(value, before);
  }

  // 8 samples, each by itself. All additions are on their way before the first is looked at.
  __device__ void add_vector(const std::uint32_t (&vector)[4]) {
    std::uint32_t before[kWideVectorPixels];
    bool any = false;
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      const std::uint32_t value = wide_of(vector, k);
      before[k] = holds(value) ? take(value) : 0;
    }
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) any |= wraps(wide_of(vector, k), before[k], 1);
    if (!any) return;
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      const std::uint32_t value = wide_of(vector, k);
      if (wraps(value, before[k], 1)) wrapped(value, before[k]);
    }
  }

  // 8 samples of which many are alike: each value once, with its count.
  __device__ void add_few(const std::uint32_t (&vector)[4]) {
    std::uint32_t left = 0xFF;  // a bit for each sample that is not counted yet
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      if ((left >> k & 1) == 0) continue;
      const std::uint32_t value = wide_of(vector, k);
      std::uint32_t same = 1U << k;
#pragma unroll
      for (int other = k + 1; other < kWideVectorPixels; ++other)
        same |= (wide_of(vector, other) == value ? 1U : 0U) << other;
      left &= ~same;
      add(value, static_cast<std::uint32_t>(__popc(same)));
    }
  }

  // Adds the block's counters to the image's. Call after a barrier.
  __device__ void flush() const {
    Total* const first = totals + part * kValues;
    for (std::uint32_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      const std::uint32_t word = words[i];
      if ((word & 0xFFFF) != 0) atomicAdd(first + i, static_cast<Total>(word & 0xFFFF));
      if (word >> 16 != 0) atomicAdd(first + kWords + i, static_cast<Total>(word >> 16));
    }
  }
};

constexpr unsigned kAllLanes = 0xFFFFFFFF;

// Whether all 8 samples of a vector are one value.
__device__ __forceinline__ bool is_flat(const std::uint32_t (&words)[4]) {
  return words[0] == words[1] && words[1] == words[2] && words[2] == words[3] &&
         words[0] >> 16 == (words[0] & 0xFFFF);
}

// Lanes of a warp whose first sample is their neighbour's from which on its vectors are taken for crowded:
// half of them where two values are mixed, 8 of four values, none to speak of in noise. Reasoned, not
// measured.
constexpr int kCrowdedLanes = 8;

// Counts the vectors of a warp together; `count` of a lane's 8 samples are the image's, 0 to 8. Lanes that
// add to one word wait for each other: a lane's 8 equal samples, and a warp's 256, are added at once, and of
// crowded ones a lane adds each value once.
template <int Parts, class Total>
__device__ __forceinline__ void count_warp(PackedCounters<Parts, Total>& counters,
                                           const std::uint32_t (&words)[4], int count) {
  const bool flat = count == kWideVectorPixels && is_flat(words);
  const std::uint32_t first = __shfl_sync(kAllLanes, words[0], 0);
  if (__all_sync(kAllLanes, flat && words[0] == first ? 1 : 0) != 0) {
    if (threadIdx.x % kWarpLanes == 0) counters.add(first & 0xFFFF, kWarpLanes * kWideVectorPixels);
    return;
  }
  const std::uint32_t own = words[0] & 0xFFFF;
  const std::uint32_t neighbour = __shfl_xor_sync(kAllLanes, own, 1);
  const int alike = __popc(__ballot_sync(kAllLanes, count > 0 && own == neighbour ? 1 : 0));
  if (flat) {
    counters.add(own, kWideVectorPixels);
  } else if (count == kWideVectorPixels && alike >= kCrowdedLanes) {
    counters.add_few(words);
  } else if (count == kWideVectorPixels) {
    counters.add_vector(words);
  } else {
    // The end of a row. Chosen, not indexed: see plane_of_block().
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      if (k < count) counters.add(wide_of(words, k), 1);
    }
  }
}

}  // namespace imgpipe
