// Counts a warp's samples without serialising on equal ones. A warp is crowded if at least an eighth of its
// lanes begin with the same sample. Its frequent (hot) values are counted without atomics: each lane has a
// column of its own in shared memory.
#pragma once

#include "kernels/shared/packed_counters.cuh"

namespace imgpipe {

// A warp's hot values, and how often each lane has counted them since they were added.
template <int Most>
struct HotValues {
  std::uint32_t value[Most];
  std::uint32_t count[Most][kWarpLanes];
};

// The shared memory of a block of `Threads` threads that counts with WarpCounter. With quarters of the values
// it fits into the 48 KiB that every device has.
template <int Parts, int Threads>
struct SharedHistogram {
  std::uint32_t words[PackedCounters<Parts>::kWords];
  HotValues<Parts == 4 ? 3 : 6> hot[Threads / kWarpLanes];  // by warp
};
static_assert(sizeof(SharedHistogram<4, 1024>) <= 48 * 1024);

// Finds the least number of parts (1, 2 or 4) for which a block of the current device can hold a
// SharedHistogram.
template <int Threads>
cudaError_t parts_that_fit(int& parts) {
  int max_bytes = 0;
  const cudaError_t status = shared_bytes_of_a_block(max_bytes);
  const auto fits = [&](std::size_t bytes) { return static_cast<std::size_t>(max_bytes) >= bytes; };
  parts = fits(sizeof(SharedHistogram<1, Threads>)) ? 1 : fits(sizeof(SharedHistogram<2, Threads>)) ? 2 : 4;
  return status;
}

// A set of a vector's 8 samples: sample k is bit 15 - k / 2 (lower half of its word) or 31 - k / 2 (upper).
constexpr std::uint32_t kWholeVector = 0xF000F000;
__device__ __forceinline__ std::uint32_t sample_bit(int k) {
  return 0x8000U << (k % 2 * 16) >> (k / 2);
}
__device__ __forceinline__ std::uint32_t first_samples(int count) {
  std::uint32_t set = 0;
#pragma unroll
  for (int k = 0; k < kWideVectorPixels; ++k) set |= k < count ? sample_bit(k) : 0;
  return set;
}
// Returns the set of samples equal to `value`.
__device__ __forceinline__ std::uint32_t samples_equal_to(const std::uint32_t (&words)[4],
                                                          std::uint32_t value) {
  constexpr std::uint32_t kTops = 0x80008000;
  const std::uint32_t two = value * 0x00010001U;
  std::uint32_t others = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t differ = words[i] ^ two;
    const std::uint32_t top = ((differ & ~kTops) + ~kTops) | differ;  // set if a half is not 0
    others |= (top & kTops) >> i;
  }
  return ~others & kWholeVector;
}
// Returns the number of samples equal to `value`, with slightly fewer instructions than samples_equal_to().
__device__ __forceinline__ std::uint32_t count_equal_to(const std::uint32_t (&words)[4],
                                                        std::uint32_t value) {
  constexpr std::uint32_t kOnes = 0x00010001;
  const std::uint32_t two = value * kOnes;
  std::uint32_t others = 0;  // in each half
#pragma unroll
  for (const std::uint32_t word : words) others += __vminu2(word ^ two, kOnes);
  return kWideVectorPixels - ((others + (others >> 16)) & 0xFFFF);
}

// A warp is crowded if this many lanes begin with the same sample as lane 0; rare in noise and photos' low
// bits.
constexpr int kCrowdedLanes = 4;
// A value is hot if at least this many of a warp's 256 samples equal it.
constexpr unsigned kHotSamples = 16;

__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
#endif
}

// All lanes of the warp must call the functions of this class together.
template <class Counters, int Most>
class WarpCounter {
 public:
  __device__ WarpCounter(Counters& counters, HotValues<Most>& hot) : counters_(counters), hot_(hot) {}

  // Counts the first `count` (0 to 8) samples of a lane. Lane 0 should have some if any lane does: its first
  // one detects crowding.
  __device__ __forceinline__ void count(const std::uint32_t (&words)[4], int count) {
    const std::uint32_t own = words[0] & 0xFFFF;
    const std::uint32_t first = __shfl_sync(kAllLanes, own, 0);
    const unsigned alike = __ballot_sync(kAllLanes, count > 0 && own == first ? 1 : 0);
    if (__popc(alike) >= kCrowdedLanes) {
      count_crowded(words, count);
    } else if (count == kWideVectorPixels) {
      counters_.add_vector(words);
    } else {
      add_each(words, first_samples(count));
    }
  }

  // Must be called at the end; flushes the columns.
  __device__ void flush() {
    for (int h = 0; h < known_; ++h) give(h);
  }

 private:
  __device__ void count_crowded(const std::uint32_t (&words)[4], int count) {
    const bool whole = __all_sync(kAllLanes, count == kWideVectorPixels ? 1 : 0) != 0;
    if (whole && all_hot(words)) return;
    std::uint32_t left = count == kWideVectorPixels ? kWholeVector : first_samples(count);
    for (int h = 0; h < known_; ++h) {
      const std::uint32_t alike = samples_equal_to(words, hot_.value[h]) & left;
      hot_.count[h][lane()] += static_cast<std::uint32_t>(__popc(alike));
      left &= ~alike;
    }
    while (true) {
      const unsigned lanes = __ballot_sync(kAllLanes, (left & sample_bit(0)) != 0 ? 1 : 0);
      if (lanes == 0) break;
      const std::uint32_t value =
          __shfl_sync(kAllLanes, words[0] & 0xFFFF, __ffs(static_cast<int>(lanes)) - 1);
      const std::uint32_t alike = samples_equal_to(words, value) & left;
      left &= ~alike;
      const auto own = static_cast<unsigned>(__popc(alike));
      const unsigned all = sum_of_warp(own);
      if (all < kHotSamples) {
        if (lane() == 0) counters_.add(value, all);
        break;
      }
      remember(value, own);
    }
    add_each(words, left);
  }

  // Counts the samples if all of them are hot; returns whether they are.
  __device__ __forceinline__ bool all_hot(const std::uint32_t (&words)[4]) {
    std::uint32_t met = 0;
#pragma unroll 1
    for (int h = 0; h < known_; ++h) {
      const std::uint32_t own = count_equal_to(words, hot_.value[h]);
      hot_.count[h][lane()] += own;
      met += own;
    }
    if (__all_sync(kAllLanes, met == kWideVectorPixels ? 1 : 0) != 0) return true;
#pragma unroll 1
    for (int h = 0; h < known_; ++h) hot_.count[h][lane()] -= count_equal_to(words, hot_.value[h]);
    return false;
  }

  // Adds a hot value, replacing the oldest one.
  __device__ void remember(std::uint32_t value, std::uint32_t own) {
    const int position = next_;
    next_ = next_ + 1 == Most ? 0 : next_ + 1;
    if (position < known_) {
      give(position);
    } else {
      ++known_;
    }
    if (lane() == 0) hot_.value[position] = value;
    hot_.count[position][lane()] = own;
    __syncwarp();
  }
  __device__ void give(int position) {
    const unsigned all = sum_of_warp(hot_.count[position][lane()]);
    // add() takes at most 65,535.
    if (lane() == 0) {
      const std::uint32_t value = hot_.value[position];
      for (unsigned rest = all; rest > 0;) {
        const unsigned some = min(rest, kHalfWraps - 1);
        counters_.add(value, some);
        rest -= some;
      }
    }
    __syncwarp();
  }

  __device__ void add_each(const std::uint32_t (&words)[4], std::uint32_t set) {
    if (set == 0) return;
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      // Only constant indices: see plane_of_block().
      if ((set & sample_bit(k)) != 0) counters_.add(wide_of(words, k), 1);
    }
  }
  __device__ static unsigned lane() {
    return threadIdx.x % kWarpLanes;
  }

  Counters& counters_;
  HotValues<Most>& hot_;
  int known_ = 0;  // hot values
  int next_ = 0;   // slot of the next one
};

}  // namespace imgpipe
