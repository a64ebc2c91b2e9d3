// Counters of 16-bit samples in shared memory. 65,536 counters of 32 bits (256 KiB) exceed a multiprocessor's
// memory, so adjacent values share a word, and overflows of 16 bits go to the image's counters immediately.
// Banks are mixed. If shared memory holds only part of the values, other blocks count the rest of the same
// plane.
#pragma once

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/mixed_banks.cuh"

namespace imgpipe {

constexpr std::uint32_t kWideBins = 65536;
constexpr std::uint32_t kHalfWraps = 1U << 16;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

// Counters of one of `Parts` equal parts of the values; the image's totals are complete once every block has
// flushed. Total: of 64 bits, or of 32 if counts fit.
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
  // The word of the lower or upper of two samples with mixed banks.
  template <bool Upper>
  __device__ std::uint32_t* word_at(std::uint32_t mixed) const {
    constexpr std::uint32_t kOffsets = (kValues - 2) * 2;  // in bytes
    const std::uint32_t offset = (Upper ? mixed >> 15 : mixed << 1) & kOffsets;
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<unsigned char*>(words) + offset);
  }
  template <bool Upper>
  __device__ static std::uint32_t one_more(std::uint32_t two) {
    return max((Upper ? two : two << 16) & kHalfWraps, 1U);
  }

  __device__ void clear() {
    auto* const vectors = reinterpret_cast<uint4*>(words);
    for (std::uint32_t i = threadIdx.x; i < kWords / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
  }

  // Whether adding `count` of a value to the word `before` overflowed its half.
  __device__ static bool wraps(std::uint32_t value, std::uint32_t before, std::uint32_t count) {
    const std::uint32_t half = is_upper(value) ? before >> 16 : before & (kHalfWraps - 1);
    return half + count >= kHalfWraps;
  }
  // Handles an overflow. Additions to a word are sequential, and each returns the previous word, so the
  // thread that overflows a half detects it, whatever the order. An upper half loses 2^16. A lower half
  // carries 1 into the upper one; this is taken back here. The carry and its removal may each wrap the upper
  // half again, which the previous word shows.
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

  // Counts a value `count` times (1 to 65,535).
  __device__ void add(std::uint32_t value, std::uint32_t count) {
    if (!holds(value)) return;
    const std::uint32_t before = atomicAdd(words + word_of(value), is_upper(value) ? count << 16 : count);
    if (wraps(value, before, count)) wrapped(value, before);
  }

  // Counts 8 samples. Issues all additions before it examines a result: few halves are half full, and only
  // those can overflow.
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

  // Adds the block's counters to the image's. A barrier must precede it.
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
