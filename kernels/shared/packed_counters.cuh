// Counters of 16-bit samples in shared memory: 65,536 of 32 bits (256 KiB) are more than a multiprocessor
// has, so two neighbouring values share a word, and what passes 16 bits goes to the image's counters at once.
// Their banks are mixed. Where shared memory holds a part of the values only, each part is counted by blocks
// of its own, which read the whole plane.
#pragma once

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/mixed_banks.cuh"

namespace imgpipe {

constexpr std::uint32_t kWideBins = 65536;
constexpr std::uint32_t kHalfWraps = 1U << 16;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

// The counters of one of `Parts` equal parts of the values, and the image's, which are complete when every
// block has flushed its own. Total: of 64 bits, or of 32 where no count passes them.
template <int Parts, class Total = unsigned long long>
struct PackedCounters {
  static constexpr std::uint32_t kValues = kWideBins / Parts;
  static constexpr std::uint32_t kWords = kValues / 2;

  std::uint32_t* words;  // in shared memory, on a 16-byte boundary
  Total* totals;         // of the plane
  std::uint32_t part;

  __device__ bool holds(std::uint32_t value) const { return Parts == 1 || value / kValues == part; }
  __device__ static bool is_upper(std::uint32_t value) { return (value & 1) != 0; }
  __device__ static std::uint32_t word_of(std::uint32_t value) {
    return (mixed_banks(value) & (kValues - 1)) / 2;
  }
  // Of the lower or the upper one of two samples with mixed banks.
  template <bool Upper>
  __device__ std::uint32_t* word_at(std::uint32_t mixed) const {
    constexpr std::uint32_t kOffsets = (kValues - 2) * 2;  // in bytes
    const std::uint32_t offset = (Upper ? mixed >> 15 : mixed << 1) & kOffsets;
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<unsigned char*>(words) + offset);
  }
  // What one more adds to its word.
  template <bool Upper>
  __device__ static std::uint32_t one_more(std::uint32_t two) {
    return max((Upper ? two : two << 16) & kHalfWraps, 1U);
  }

  __device__ void clear() {
    auto* const vectors = reinterpret_cast<uint4*>(words);
    for (std::uint32_t i = threadIdx.x; i < kWords / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
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
    Total* const lower = totals + (value & ~1U);
    Total* const upper = lower + 1;
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

  // 8 samples, each by itself. All additions are on their way before the first is looked at; a half that
  // passes its end was at least half full before, which nearly none ever is.
  __device__ void add_vector(const std::uint32_t (&vector)[4]) {
    constexpr std::uint32_t kHalfFull = 0x80008000;
    std::uint32_t before[kWideVectorPixels];
    std::uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < kWideVectorPixels / 2; ++i) {
      const std::uint32_t two = vector[i];
      const std::uint32_t mixed = mixed_banks(two);
      before[2 * i] = 0;
      before[2 * i + 1] = 0;
      if (holds(two & 0xFFFF)) before[2 * i] = atomicAdd(word_at<false>(mixed), one_more<false>(two));
      if (holds(two >> 16)) before[2 * i + 1] = atomicAdd(word_at<true>(mixed), one_more<true>(two));
    }
#pragma unroll
    for (const std::uint32_t word : before) any |= word;
    if ((any & kHalfFull) == 0) return;
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      const std::uint32_t value = wide_of(vector, k);
      if (wraps(value, before[k], 1)) wrapped(value, before[k]);
    }
  }

  // Adds the block's counters to the image's. Call after a barrier.
  __device__ void flush() const {
    for (std::uint32_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      const std::uint32_t value = part * kValues + 2 * i;
      const std::uint32_t word = words[word_of(value)];
      if ((word & 0xFFFF) != 0) atomicAdd(totals + value, static_cast<Total>(word & 0xFFFF));
      if (word >> 16 != 0) atomicAdd(totals + value + 1, static_cast<Total>(word >> 16));
    }
  }
};

}  // namespace imgpipe
