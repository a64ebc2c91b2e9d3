// Shared by the entropy decoding kernels: tables and words in shared memory, and sums over threads.
#pragma once

#include "kernels/jpeg/entropy_steps.h"

namespace imgpipe::entropy {

inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;
inline constexpr std::uint32_t kWarpLanes = 32;

// Returns the index of the first of `count` ends that exceeds `index`.
__device__ inline std::uint32_t find_owner(const std::uint32_t* ends, std::uint32_t count,
                                           std::uint32_t index) {
  std::uint32_t low = 0;
  for (std::uint32_t high = count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (__ldg(ends + middle) <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- shared memory: an image's tables, then words of its stream -------------------------------------------

__device__ inline uint4* shared_vectors() {
  extern __shared__ uint4 memory[];
  return memory;
}

// Loads an image's tables. All threads of the block must call it, and a barrier must follow.
__device__ inline Tables load_tables(const GroupView& view, const DeviceImage& image,
                                     const std::uint32_t* image_kinds, std::uint32_t* kinds) {
  const auto* from = reinterpret_cast<const uint4*>(view.tables + image.first_table);
  uint4* const to = shared_vectors();
  const std::uint32_t vectors =
      image.tables * static_cast<std::uint32_t>(sizeof(SymbolTable) / sizeof(uint4));
  for (std::uint32_t i = threadIdx.x; i < vectors; i += blockDim.x) to[i] = __ldg(from + i);
  if (threadIdx.x < image.blocks_in_mcu) kinds[threadIdx.x] = image_kinds[threadIdx.x];
  return {reinterpret_cast<const SymbolEntry*>(to), view.codes + image.first_table, kinds,
          image.blocks_in_mcu};
}

// A tile's words, byte-swapped, from word `first` on. The padding puts words at the same position of
// different subsequences into different banks. Reading directly from the stream would stall the warp at every
// symbol.
struct TileWords {
  const std::uint32_t* words;
  std::uint32_t first;
  static __device__ std::uint32_t padded(std::uint32_t i) { return i + i / kSubsequenceWords; }
  __device__ std::uint32_t operator()(std::uint32_t i) const { return words[padded(first + i)]; }
};
inline constexpr std::uint32_t kTileWords =
    (kTileSubsequences * kSubsequenceWords + kLookaheadWords + 3) / 4 * 4;
inline constexpr std::uint32_t kTileWordBytes = (kTileWords + kTileWords / kSubsequenceWords) / 4 * 16 + 16;

__device__ inline std::uint32_t* shared_words(const DeviceImage& image) {
  return reinterpret_cast<std::uint32_t*>(shared_vectors() +
                                          image.tables * (sizeof(SymbolTable) / sizeof(uint4)));
}

// Loads the words of the tile that begins with subsequence `first`, plus those that its last block may reach;
// zeros follow the stream. All threads must call it; a barrier must follow. Returns the tile's first word.
__device__ inline const std::uint32_t* load_words(const GroupView& view, const DeviceImage& image,
                                                  std::uint32_t first) {
  const std::uint32_t last = min(first + kTileSubsequences, image.subsequences) - 1;
  const std::uint32_t* const begin = find_subsequence(view, image, first).words;
  const std::uint32_t* const end =
      find_subsequence(view, image, last).words + kSubsequenceWords + kLookaheadWords;
  const auto there = image.stream_words - static_cast<std::uint32_t>(begin - image.stream);
  const auto count = static_cast<std::uint32_t>(end - begin);
  std::uint32_t* const to = shared_words(image);
  for (std::uint32_t i = threadIdx.x * 4; i < count; i += blockDim.x * 4) {
    const uint4 vector = i < there ? __ldg(reinterpret_cast<const uint4*>(begin + i)) : uint4{};
    std::uint32_t* const at = to + TileWords::padded(i);  // four words stay adjacent
    at[0] = swapped(vector.x);
    at[1] = swapped(vector.y);
    at[2] = swapped(vector.z);
    at[3] = swapped(vector.w);
  }
  return begin;
}

// ---- sums over threads ------------------------------------------------------------------------------------

// Returns the sum over the warp's lanes up to the calling one, from the last segment start or from lane 0.
// Sets `starts` to whether a lane up to this one has a segment start.
__device__ inline Sums scan_warp(Sums sums, bool& starts) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  for (std::uint32_t step = 1; step < kWarpLanes; step *= 2) {
    Sums before;
    before.blocks = __shfl_up_sync(kAllLanes, sums.blocks, step);
    for (int c = 0; c < 3; ++c) before.dc[c] = __shfl_up_sync(kAllLanes, sums.dc[c], step);
    const bool started = __shfl_up_sync(kAllLanes, static_cast<int>(starts), step) != 0;
    if (lane < step) continue;
    if (!starts) add(sums, before);
    starts = starts || started;
  }
  return sums;
}

// The same over a block of threads. Sets `starts` to whether a thread up to this one has a segment start.
// `totals`, `any`: by warp, in shared memory; the one barrier completes them.
__device__ inline Sums scan_tile(Sums sums, bool& starts, Sums* totals, bool* any) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  sums = scan_warp(sums, starts);
  if (lane == kWarpLanes - 1) {
    totals[warp] = sums;
    any[warp] = starts;
  }
  __syncthreads();
  for (std::uint32_t i = warp; i > 0 && !starts; --i) {
    add(sums, totals[i - 1]);
    starts = any[i - 1];
  }
  return sums;
}

}  // namespace imgpipe::entropy
