// The simplest tiles of a plane with a margin in shared memory: one thread per pixel; a block covers 32
// columns and as many rows as it has warps.
#pragma once

#include "lab/kernels/ladder.cuh"

namespace imgpipe {

constexpr int kLabTileColumns = kWarpLanes;

// A tile of at most 32 x 32 pixels with a margin of `Radius` pixels on each side; the tile begins at
// sample[Radius][Radius].
template <class T, int Radius>
struct LabTile {
  static constexpr int kRoom = kLabTileColumns + 2 * Radius;
  static constexpr int kMaxRows = kMaxBlockThreads / kLabTileColumns + 2 * Radius;
  T sample[kMaxRows][kRoom];

  // Loads a tile of `rows` rows with all threads of a block; load(x, y) returns the pixel at that offset from
  // the tile's first. The caller adds a barrier.
  template <class Load>
  __device__ void fill(int rows, const Load& load) {
    for (int i = static_cast<int>(threadIdx.x); i < (rows + 2 * Radius) * kRoom;
         i += static_cast<int>(blockDim.x))
      sample[i / kRoom][i % kRoom] = load(i % kRoom - Radius, i / kRoom - Radius);
  }
};

// Strides over the tiles that cover `columns` x `rows` pixels; load(x, y) returns a pixel of a tile or its
// margin. Each thread calls use(x, y, column, row) for its pixel, also beyond the last column and row; its
// window begins at tile.sample[row][column]. Barriers: a tile is complete before use(), and used before the
// next fill().
template <class T, int Radius, class Load, class Use>
__device__ void each_tile(LabTile<T, Radius>& tile, std::int64_t columns, std::int64_t rows, const Load& load,
                          const Use& use) {
  const int tile_rows = static_cast<int>(blockDim.x) / kLabTileColumns;
  const int column = static_cast<int>(threadIdx.x) % kLabTileColumns;
  const int row = static_cast<int>(threadIdx.x) / kLabTileColumns;
  const auto across = static_cast<std::uint64_t>((columns + kLabTileColumns - 1) / kLabTileColumns);
  for (std::uint64_t number = blockIdx.x;; number += gridDim.x) {
    const std::int64_t left = static_cast<std::int64_t>(number % across) * kLabTileColumns;
    const std::int64_t top = static_cast<std::int64_t>(number / across) * tile_rows;
    if (top >= rows) return;  // all threads of the block
    tile.fill(tile_rows, [&](int dx, int dy) { return load(left + dx, top + dy); });
    __syncthreads();
    use(left + column, top + row, column, row);
    __syncthreads();
  }
}

}  // namespace imgpipe
