// Counters of 16-bit samples, 32 bits each, spread over the shared memory of the blocks of a cluster: half of
// all additions of a cluster of two cross to the other multiprocessor.
#pragma once

#include "kernels/block_cluster.cuh"
#include "kernels/hist/count_warp.cuh"

namespace imgpipe {

// Value v: its lower bits are the word, their lowest 5, the bank, mixed with those above; the others, mixed
// with some of the lower ones, the block.
template <int Cluster>
struct ClusterCounters {
  static constexpr std::uint32_t kWords = kWideBins / Cluster;
  static constexpr std::uint32_t kBytes = kWords * 4;

  std::uint32_t* words;  // in this block's shared memory

  __device__ static std::uint32_t mixed(std::uint32_t low) {
    return low ^ (low >> 5 & 31) ^ (low >> 10 & 31);
  }
  __device__ static std::uint32_t folded(std::uint32_t low) { return low >> 4 ^ low >> 8; }
  // The value of a word of a block.
  __device__ static std::uint32_t value_of(std::uint32_t word, std::uint32_t block) {
    const std::uint32_t low = mixed(word);
    return low + ((block ^ folded(low)) & (Cluster - 1)) * kWords;
  }

  __device__ void clear() {
    auto* const vectors = reinterpret_cast<uint4*>(words);
    for (std::uint32_t i = threadIdx.x; i < kWords / 4; i += blockDim.x) vectors[i] = make_uint4(0, 0, 0, 0);
  }
  __device__ __forceinline__ void add(std::uint32_t value, std::uint32_t count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const std::uint32_t low = value & (kWords - 1);
    const std::uint32_t block = (value / kWords ^ folded(low)) & (Cluster - 1);
    const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(words + mixed(low)));
    asm volatile(
        "{\n\t.reg .u32 at;\n\tmapa.shared::cluster.u32 at, %0, %1;\n\t"
        "red.relaxed.cluster.shared::cluster.add.u32 [at], %2;\n\t}"
        :
        : "r"(own), "r"(block), "r"(count)
        : "memory");
#endif
  }
  __device__ __forceinline__ void add_vector(const std::uint32_t (&vector)[4]) {
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) add(wide_of(vector, k), 1);
  }
};

}  // namespace imgpipe
