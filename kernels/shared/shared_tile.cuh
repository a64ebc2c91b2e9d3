// A tile of a plane and its surrounding pixels in shared memory, for stages that read neighbouring pixels.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

template <class T>
struct alignas(4 * sizeof(T)) FourSamples {
  static constexpr int kWords = static_cast<int>(sizeof(T));
  std::uint32_t word[kWords];
};

// A block processes tiles of kTileColumns x kTileRows pixels, a thread four adjacent columns of two rows. The
// halo is read by adjacent tiles too: 1.3 times the bytes for 8-bit samples, mostly from the L2 cache.
constexpr int kTileLanes = 32;  // threads per row
constexpr int kTileThreads = 256;
constexpr int kGroup = 4;  // columns per thread
constexpr int kTileColumns = kTileLanes * kGroup;
constexpr int kTileRows = 2 * kTileThreads / kTileLanes;

// Row r of the tile is group[r + Radius]; its column x is sample x + kGroup, so that groups stay aligned.
template <class T, int Radius>
struct SharedTile {
  static_assert(Radius <= kGroup);
  static constexpr int kGroups = kTileLanes + 2;
  static constexpr int kRows = kTileRows + 2 * Radius;
  FourSamples<T> group[kRows][kGroups];

  // Reads the group of thread `lane` and its two neighbours from row `row` of the tile's memory.
  __device__ void read(int row, int lane, std::uint32_t (&words)[3 * FourSamples<T>::kWords]) const {
#pragma unroll
    for (int g = 0; g < 3; ++g) {
      const FourSamples<T> four = group[row][lane + g];
#pragma unroll
      for (int w = 0; w < FourSamples<T>::kWords; ++w) words[g * FourSamples<T>::kWords + w] = four.word[w];
    }
  }
};

// The position of a tile; tiles are numbered from left to right, then from top to bottom.
struct TilePlace {
  std::int64_t x, y;

  __device__ TilePlace(std::int64_t tile, const FrameType& shape) {
    const std::int64_t across = (shape.width + kTileColumns - 1) / kTileColumns;
    y = tile / across * kTileRows;
    x = tile % across * kTileColumns;
  }
};
inline std::int64_t tiles_of(const FrameType& shape) {
  return (shape.width + kTileColumns - 1) / kTileColumns * ((shape.height + kTileRows - 1) / kTileRows);
}
// Returns a grid with one block per tile and channel. If a channel has more than kMaxBlocks tiles, the blocks
// stride over them.
inline dim3 tile_grid(const FrameType& shape) {
  constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 30;
  const std::int64_t tiles = tiles_of(shape);
  return dim3(static_cast<unsigned>(tiles < kMaxBlocks ? tiles : kMaxBlocks), 1,
              static_cast<unsigned>(shape.color_channels));
}

template <Border Beyond>
__device__ __forceinline__ std::int64_t tile_source(std::int64_t i, std::int64_t size) {
  if (i >= 0 && i < size) return i;
  return Beyond == Border::reflect ? reflected(i, size) : replicated(i, size);
}

// Loads a tile. All threads of a block must call this, and a barrier must follow. A group inside the row is
// one load; otherwise each sample is located separately. Reads no padding.
template <Border Beyond, class T, int Radius>
__device__ void load_tile(SharedTile<T, Radius>& tile, const Plane<const T, Device>& from,
                          const TilePlace& at) {
  using Tile = SharedTile<T, Radius>;
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * Tile::kGroups; i += kTileThreads) {
    const int row = i / Tile::kGroups;
    const int group = i - row * Tile::kGroups;
    const T* source = from.row(tile_source<Beyond>(at.y + row - Radius, from.height));
    const std::int64_t x = at.x + (group - 1) * kGroup;
    FourSamples<T> four{};
    if (x >= 0 && x <= from.width - kGroup) {
      if constexpr (!kIsWide<T>) {
        four.word[0] = __ldg(reinterpret_cast<const std::uint32_t*>(source + x));
      } else {
        const uint2 both = __ldg(reinterpret_cast<const uint2*>(source + x));
        four.word[0] = both.x;
        four.word[1] = both.y;
      }
    } else if (x < from.width + kGroup) {                     // no window reaches further
      constexpr int kEach = 4 / static_cast<int>(sizeof(T));  // samples per word
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const std::uint32_t sample = __ldg(source + tile_source<Beyond>(x + k, from.width));
        four.word[k / kEach] |= sample << (k % kEach * 8 * static_cast<int>(sizeof(T)));
      }
    }
    tile.group[row][group] = four;
  }
}

// Stores four samples, or the first `count`; padding is never written.
template <class T>
__device__ __forceinline__ void store_four(T* to, const FourSamples<T>& four, int count) {
  if (count >= kGroup) {
    if constexpr (!kIsWide<T>) {
      *reinterpret_cast<std::uint32_t*>(to) = four.word[0];
    } else {
      *reinterpret_cast<uint2*>(to) = make_uint2(four.word[0], four.word[1]);
    }
    return;
  }
  constexpr int kEach = 4 / static_cast<int>(sizeof(T));
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    if (k < count)
      to[k] = static_cast<T>(four.word[k / kEach] >> (k % kEach * 8 * static_cast<int>(sizeof(T))));
  }
}

// Processes plane blockIdx.z tile by tile with a grid of tile_grid(): make(lane, row, rows) computes a
// thread's four columns of rows `row` and `row + 1`. Barriers: the tile is loaded; all threads have read it.
template <Border Beyond, class T, int Radius, class Make>
__device__ __forceinline__ void each_tile(SharedTile<T, Radius>& tile, const DevicePlanes<const T>& in,
                                          const DevicePlanes<T>& out, const FrameType& shape,
                                          std::int64_t tiles, const Make& make) {
  const Plane<const T, Device> from = plane_of_block(in);
  const Plane<T, Device> to = plane_of_block(out);
  const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
  const int row = static_cast<int>(threadIdx.x) / kTileLanes * 2;
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const TilePlace at(number, shape);
    load_tile<Beyond>(tile, from, at);
    __syncthreads();
    const std::int64_t x = at.x + lane * kGroup;
    const std::int64_t left = shape.width - x;
    if (left > 0 && at.y + row < shape.height) {
      FourSamples<T> rows[2];
      make(lane, row, rows);
      const int count = static_cast<int>(left < kGroup ? left : kGroup);
      store_four(to.row(at.y + row) + x, rows[0], count);
      if (at.y + row + 1 < shape.height) store_four(to.row(at.y + row + 1) + x, rows[1], count);
    }
    __syncthreads();
  }
}

template <class T>
using TileKernel = void (*)(DevicePlanes<const T> in, DevicePlanes<T> out, FrameType shape,
                            std::int64_t tiles);
template <class T>
CudaStatus launch_tiles(TileKernel<T> kernel, const StageCall<Device>& call, const CudaLaunch& launch) {
  kernel<<<tile_grid(call.in.type), kTileThreads, 0, launch.stream>>>(
      color_planes_of<T>(call.in), color_planes_of<T>(call.out), call.in.type, tiles_of(call.in.type));
  return cudaGetLastError();
}

}  // namespace imgpipe
