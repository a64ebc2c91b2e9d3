// PackedCounters whose vectors are counted without looking at what was there before: additions that nobody
// waits for. A half that passes its end unseen makes the sum of all halves fall short, so a sum that is right
// proves every counter; where it is not, all is counted again by PackedCounters.
//
// With c and d the counts of a word's lower and upper value, a' and b' how often their halves passed an end
// unseen, the halves and what was noted add up to c + d - 65535 a' - 65536 b': nothing makes up for anything.
#pragma once

#include "kernels/hist/packed_counters.cuh"

namespace imgpipe {

// What passed 16 bits and was seen: entry e stands for 65,536 samples of value e >> 1, taken back if e is
// odd. In shared memory.
struct NotedWraps {
  static constexpr unsigned kMost = 62;
  unsigned count;  // above kMost: some are lost
  unsigned failed;
  std::uint32_t entry[kMost];
};

template <int Parts>
struct LooseCounters : PackedCounters<Parts> {
  using Packed = PackedCounters<Parts>;
  NotedWraps* noted;

  __device__ void note(std::uint32_t value, bool back) {
    const unsigned place = atomicAdd(&noted->count, 1U);
    if (place < NotedWraps::kMost) noted->entry[place] = value << 1 | (back ? 1U : 0U);
  }
  __device__ void add(std::uint32_t value, std::uint32_t count) {
    if (!this->holds(value)) return;
    std::uint32_t* const word = this->words + Packed::word_of(value);
    const std::uint32_t before = atomicAdd(word, Packed::is_upper(value) ? count << 16 : count);
    if (!Packed::wraps(value, before, count)) return;
    note(value, false);
    if (Packed::is_upper(value)) return;
    if (before >> 16 == kHalfWraps - 1) note(value + 1, false);
    if (atomicSub(word, kHalfWraps) >> 16 == 0) note(value + 1, true);
  }
  __device__ void add_vector(const std::uint32_t (&vector)[4]) {
#pragma unroll
    for (int i = 0; i < kWideVectorPixels / 2; ++i) {
      const std::uint32_t two = vector[i];
      const std::uint32_t mixed = mixed_banks(two);
      if (this->holds(two & 0xFFFF))
        atomicAdd(this->template word_at<false>(mixed), Packed::template one_more<false>(two));
      if (this->holds(two >> 16))
        atomicAdd(this->template word_at<true>(mixed), Packed::template one_more<true>(two));
    }
  }
};

}  // namespace imgpipe
