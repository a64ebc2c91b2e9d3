// find_repeats() of images/codecs/png/strip_repeats.h, where the rule asks for it: a warp each cell, a table of
// hashes a strip and place. How many windows repeat does not depend on their order: it is how many there are
// less how many differ.
#include <cuda_runtime.h>

#include "images/codecs/png/strip_repeats.h"
#include "kernels/png/filter_word.h"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

__device__ inline std::uint32_t warp_least(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAllLanes, value);
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
#endif
}

// The position of the least key in a cell, which begins on a word.
__device__ inline std::uint32_t least_key(const std::uint8_t* cell) {
  constexpr unsigned kWords = kRepeatCell / 4 / kLanes;
  const unsigned lane = threadIdx.x % kLanes;
  const auto* words = reinterpret_cast<const std::uint32_t*>(cell);
  std::uint32_t least = ~0U;
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) {
    const unsigned at = i * kLanes + lane;
    const std::uint32_t low = __ldg(words + at);
    const std::uint32_t high = __ldg(words + at + 1);
#pragma unroll
    for (unsigned offset = 0; offset < 4; ++offset) {
      const std::uint32_t key = ~(joined_words(low, high, 8 * offset) * kKeyMultiplier);
      least = min(least, (key & ~std::uint32_t{kRepeatCell - 1}) | (4 * at + offset));
    }
  }
  return warp_least(least) & (kRepeatCell - 1);
}

// The number of bytes of the window at `from`, 0 for none.
__device__ inline unsigned window_bytes(const std::uint8_t* from, const std::uint32_t* table) {
  const unsigned lane = threadIdx.x % kLanes;
  const std::uint32_t first = __ldg(from);
  unsigned before = 0;
  bool all_equal = true;
  for (unsigned begin = 0; begin < kLongestWindow; begin += kLanes) {
    const bool there = begin + lane < kLongestWindow;
    const std::uint32_t byte = there ? __ldg(from + begin + lane) : first;
    const unsigned bits = there ? __ldg(table + byte) & 255 : 0;
    unsigned total = 0;
    const unsigned sum = before + sum_before(bits, total) + bits;
    const std::uint32_t enough = __ballot_sync(kAllLanes, there && sum >= kWindowBits);
    const unsigned last = enough == 0 ? kLanes - 1 : trailing_zeros(enough);
    all_equal = all_equal && __all_sync(kAllLanes, lane > last || byte == first) != 0;
    if (enough != 0) return all_equal ? 0 : begin + last + 1;
    before += total;
  }
  return 0;
}

__device__ inline unsigned long long window_hash(const std::uint8_t* from, unsigned bytes) {
  constexpr unsigned kWords = kLongestWindow / 8;
  const unsigned lane = threadIdx.x % kLanes;
  unsigned long long word = 0;
  if (lane < kWords) {
    for (unsigned i = 0; i < 8; ++i) {
      if (8 * lane + i < bytes) word |= static_cast<unsigned long long>(__ldg(from + 8 * lane + i)) << 8 * i;
    }
  }
  std::uint64_t sum = bytes;
  for (unsigned i = 0; i < kWords; ++i) sum = hash_step(sum, __shfl_sync(kAllLanes, word, static_cast<int>(i)));
  return sum;
}

// False if it is there already. The table has room for twice as many as can come.
__device__ bool add_hash(unsigned long long hash, unsigned long long* table, std::uint32_t places) {
  for (unsigned long long at = hash >> 20;; ++at) {
    const unsigned long long there = atomicCAS(table + (at & (places - 1)), 0ULL, hash);
    if (there == 0) return true;
    if (there == hash) return false;
  }
}

__global__ __launch_bounds__(kCellThreads) void repeats_kernel(Group group) {
  const Picture& picture = picture_of(group, &Picture::first_cell_block, blockIdx.x);
  const std::uint64_t warp =
      std::uint64_t{blockIdx.x - picture.first_cell_block} * (kCellThreads / kLanes) + threadIdx.x / kLanes;
  const auto number = static_cast<std::uint32_t>(warp / picture.cells_a_strip);
  const auto cell = static_cast<std::uint32_t>(warp - std::uint64_t{number} * picture.cells_a_strip);
  if (number >= picture.strips()) return;
  if (cell >= repeat_cells(picture.bytes_of(number))) return;
  const std::uint32_t strip = picture.first_strip + number;
  const StripState& state = group.strip_states[strip];
  if (state.matches != MatchRule::by_repeats) return;
  const std::uint8_t* begin =
      group.filtered + picture.filtered + number * picture.strip_pitch + std::uint64_t{cell} * kCellStep;
  unsigned long long* tables =
      group.hashes + picture.first_hash + std::uint64_t{2} * number * picture.hash_places;
#pragma unroll 1
  for (unsigned place = 0; place < 2; ++place) {
    const std::uint8_t* from = begin + (place == 0 ? least_key(begin) : 0);
    const unsigned bytes = window_bytes(from, state.table);
    if (bytes == 0) continue;
    const unsigned long long hash = window_hash(from, bytes);
    if (threadIdx.x % kLanes != 0) continue;
    StripRepeats& repeats = group.windows[strip].of[place];
    atomicAdd(&repeats.windows, 1U);
    // 0 is never there.
    if (hash != 0 && !add_hash(hash, tables + place * picture.hash_places, picture.hash_places))
      atomicAdd(&repeats.repeated, 1U);
  }
}

}  // namespace

CudaStatus find_repeats(const Group& group, CUstream_st* stream) {
  if (group.cell_blocks == 0) return cudaSuccess;
  repeats_kernel<<<group.cell_blocks, kCellThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips
