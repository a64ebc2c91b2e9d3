// find_repeats() of images/codecs/png/strip_repeats.h on the device, with two hash tables per strip: one for
// the windows at the least keys, one for those at the cells' first bytes. Repeated windows are all windows
// minus distinct ones.
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

// Returns the position of the least key in a cell, which must begin at a word boundary. All lanes of a warp
// must call it.
__device__ inline std::uint32_t min_key(const std::uint8_t* cell) {
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

struct Window {
  unsigned bytes;  // 0: no window
  unsigned long long hash;
};

// Returns the window at `from`. `bits`: code lengths of the 256 literals, in shared memory.
__device__ inline Window window_at(const std::uint8_t* from, const std::uint8_t* bits) {
  constexpr unsigned kWords = kMaxWindowBytes / 4;
  const auto* words =
      reinterpret_cast<const std::uint32_t*>(from - reinterpret_cast<std::uintptr_t>(from) % 4);
  const auto shift = static_cast<unsigned>(8 * (reinterpret_cast<std::uintptr_t>(from) % 4));
  std::uint32_t low = __ldg(words);
  const std::uint32_t first = (low >> shift & 255) * 0x01010101U;
  unsigned bytes = 0;
  unsigned sum = 0;
  bool is_run = true;
  std::uint32_t window[kWords];
#pragma unroll
  for (unsigned k = 0; k < kWords; ++k) {
    // The last word is not read if it lies beyond the window.
    const std::uint32_t high = k + 1 < kWords || shift > 0 ? __ldg(words + k + 1) : 0;
    const std::uint32_t word = joined_words(low, high, shift);
    low = high;
    unsigned taken = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const bool takes = sum < kWindowBits;
      taken += takes ? 1 : 0;
      sum += takes ? bits[word >> 8 * j & 255] : 0;
    }
    const std::uint32_t mask = taken == 4 ? ~0U : (1U << 8 * taken) - 1;
    window[k] = word & mask;
    is_run = is_run && ((word ^ first) & mask) == 0;
    bytes += taken;
  }
  if (sum < kWindowBits || is_run) return {0, 0};
  std::uint64_t hash = bytes;
#pragma unroll
  for (unsigned k = 0; k < kWords; k += 2)
    hash = hash_step(hash, std::uint64_t{window[k + 1]} << 32 | window[k]);
  return {bytes, hash};
}

// Returns false if the hash is already in the table, which has at least twice as many slots as cells. The
// probing step comes from the hash; it is odd, so that it visits all slots.
__device__ bool add_hash(unsigned long long hash, unsigned long long* table, std::uint32_t offsets) {
  for (unsigned long long at = hash >> 20;; at += hash >> 41 | 1) {
    const unsigned long long there = atomicCAS(table + (at & (offsets - 1)), 0ULL, hash);
    if (there == 0) return true;
    if (there == hash) return false;
  }
}

// A block of threads handles kBlockCells cells of a strip. The warps find the cells' least keys in turn. Then
// warp 0 handles the windows there, warp 1 those at the cells' first bytes. Shared memory: code lengths and
// positions, 384 bytes; the barrier completes them.
__global__ __launch_bounds__(kCellThreads) void repeats_kernel(Group group) {
  constexpr unsigned kWarps = kCellThreads / kLanes;
  static_assert(kBlockCells == kLanes && kWarps >= 2);
  __shared__ std::uint8_t bits[256];
  __shared__ std::uint16_t positions[2][kBlockCells];
  const PngImage& picture = image_containing(group, &PngImage::first_cell_block, blockIdx.x);
  const std::uint32_t block = blockIdx.x - picture.first_cell_block;
  const std::uint32_t number = block / picture.cell_blocks_per_strip;
  const std::uint32_t strip = picture.first_strip + number;
  const StripState& state = group.strip_states[strip];
  if (state.matches != MatchRule::by_repeats) return;
  for (unsigned i = threadIdx.x; i < 256; i += kCellThreads)
    bits[i] = static_cast<std::uint8_t>(state.table[i] & 255);
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const auto cells = static_cast<std::uint32_t>(repeat_cells(picture.bytes_of(number)));
  const std::uint32_t first_cell = (block - number * picture.cell_blocks_per_strip) * kBlockCells;
  const std::uint8_t* begin = group.filtered + picture.filtered + number * picture.strip_pitch +
                              std::uint64_t{first_cell} * kCellStep;
#pragma unroll 4
  for (unsigned i = warp; i < kBlockCells; i += kWarps) {
    if (first_cell + i >= cells) break;
    const std::uint32_t position = min_key(begin + std::size_t{i} * kCellStep);
    if (lane == 0) positions[0][i] = static_cast<std::uint16_t>(position);
  }
  if (threadIdx.x < kBlockCells) positions[1][threadIdx.x] = 0;
  __syncthreads();
  if (warp >= 2) return;
  Window window{0, 0};
  if (first_cell + lane < cells)
    window = window_at(begin + std::size_t{lane} * kCellStep + positions[warp][lane], bits);
  unsigned long long* table =
      group.hashes + picture.first_hash + (std::uint64_t{2} * number + warp) * picture.hash_slots;
  // The table cannot store a hash of 0, because 0 marks an empty slot.
  const bool repeats =
      window.bytes > 0 && window.hash != 0 && !add_hash(window.hash, table, picture.hash_slots);
  __syncwarp();
  const auto windows = static_cast<unsigned>(__popc(__ballot_sync(kAllLanes, window.bytes > 0)));
  const auto repeated = static_cast<unsigned>(__popc(__ballot_sync(kAllLanes, repeats)));
  StripRepeats& found = group.windows[strip].of[warp];
  if (lane == 0 && windows > 0) atomicAdd(&found.windows, windows);
  if (lane == 0 && repeated > 0) atomicAdd(&found.repeated, repeated);
}

}  // namespace

CudaStatus find_repeats(const Group& group, CUstream_st* stream) {
  if (group.cell_blocks == 0) return cudaSuccess;
  repeats_kernel<<<group.cell_blocks, kCellThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips
