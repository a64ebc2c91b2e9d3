// The samples of a warp counted together, so that those that are alike do not wait for each other.
#pragma once

#include "kernels/hist/packed_counters.cuh"

namespace imgpipe {

// A set of a vector's 8 samples: sample k is bit 15 - k / 2 where it is the lower half of its word, 31 - k /
// 2 where it is the upper one.
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
// Those that are `value`.
__device__ __forceinline__ std::uint32_t samples_alike(const std::uint32_t (&words)[4], std::uint32_t value) {
  constexpr std::uint32_t kTops = 0x80008000;
  const std::uint32_t two = value * 0x00010001U;
  std::uint32_t others = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t differ = words[i] ^ two;
    const std::uint32_t top = ((differ & ~kTops) + ~kTops) | differ;  // set where a half is not 0
    others |= (top & kTops) >> i;
  }
  return ~others & kWholeVector;
}

// So many of 32 lanes whose first sample is lane 0's: the warp is crowded (one value has an eighth and more
// of its samples; in noise, and in a photo's lower bits, hardly ever).
constexpr int kCrowdedLanes = 4;
// So many of a warp's 256 samples are worth being added up before they are counted.
constexpr unsigned kWorthAdding = 16;

__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
#endif
}

// A crowded warp: value by value, each added up over the warp and counted by one lane, as long as that is
// worth it; then what is left.
template <class Counters>
__device__ __forceinline__ void count_crowded(Counters& counters, const std::uint32_t (&words)[4],
                                              std::uint32_t left) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  const std::uint32_t own = words[0] & 0xFFFF;
  while (true) {
    const unsigned lanes = __ballot_sync(kAllLanes, (left & sample_bit(0)) != 0 ? 1 : 0);
    if (lanes == 0) break;
    const int leader = __ffs(static_cast<int>(lanes)) - 1;
    const std::uint32_t value = __shfl_sync(kAllLanes, own, leader);
    const std::uint32_t alike = samples_alike(words, value) & left;
    left &= ~alike;
    const unsigned count = sum_of_warp(static_cast<unsigned>(__popc(alike)));
    if (static_cast<int>(lane) == leader) counters.add(value, count);
    if (count < kWorthAdding) break;
  }
  if (left == 0) return;
#pragma unroll
  for (int k = 0; k < kWideVectorPixels; ++k) {
    if ((left & sample_bit(k)) != 0) counters.add(wide_of(words, k), 1);
  }
}

// Of a lane's 8 samples the first `count` are the image's, 0 to 8; lane 0 has some if any has. All lanes
// together.
template <class Counters>
__device__ __forceinline__ void count_warp(Counters& counters, const std::uint32_t (&words)[4], int count) {
  const std::uint32_t own = words[0] & 0xFFFF;
  const std::uint32_t first = __shfl_sync(kAllLanes, own, 0);
  const unsigned alike = __ballot_sync(kAllLanes, count > 0 && own == first ? 1 : 0);
  if (__popc(alike) >= kCrowdedLanes) {
    count_crowded(counters, words, count == kWideVectorPixels ? kWholeVector : first_samples(count));
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

// Vectors of 8 samples of a plane, of which two are always on their way.
class VectorsAhead {
 public:
  __device__ explicit VectorsAhead(const Plane<const Sample, Device>& plane) : at_(plane) {
    load(now_);
    load(next_);
  }
  // Whether any lane of the warp has a vector.
  __device__ bool any() const { return __any_sync(kAllLanes, now_.count > 0 ? 1 : 0) != 0; }
  // This lane's, and how many of its samples are the image's, 0 to 8.
  __device__ int take(std::uint32_t (&words)[4]) {
    words[0] = now_.vector.x;
    words[1] = now_.vector.y;
    words[2] = now_.vector.z;
    words[3] = now_.vector.w;
    const int count = now_.count;
    now_ = next_;
    load(next_);
    return count;
  }

 private:
  struct Loaded {
    uint4 vector{};
    int count = 0;
  };
  __device__ void load(Loaded& loaded) {
    loaded.count = 0;
    if (!at_.inside()) return;
    loaded.count = static_cast<int>(min(at_.wide_left() / 2, static_cast<unsigned>(kWideVectorPixels)));
    loaded.vector = load_vector(at_.from());
    at_.next();
  }

  VectorWalk at_;
  Loaded now_, next_;
};

// Returns the samples that this thread has counted.
template <class Counters>
__device__ __forceinline__ std::uint64_t count_plane(Counters& counters, VectorsAhead& vectors) {
  std::uint64_t counted = 0;
  while (vectors.any()) {
    std::uint32_t words[4];
    const int count = vectors.take(words);
    counted += static_cast<unsigned>(count);
    count_warp(counters, words, count);
  }
  return counted;
}

}  // namespace imgpipe
