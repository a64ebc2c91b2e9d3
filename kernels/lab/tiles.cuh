// Tiles of a plane with a margin in shared memory, as simple as they can be: a thread a pixel, a block 32
// columns and as many rows as it has warps.
#pragma once

#include "kernels/lab/ladder.cuh"

namespace imgpipe {

constexpr int kLabTileColumns = kWarpLanes;

// A tile and `Radius` pixels around it: at most 32 x 32 and the margin. Its own pixels begin at
// sample[Radius][Radius].
template <class T, int Radius>
struct LabTile {
  static constexpr int kRoom = kLabTileColumns + 2 * Radius;
  static constexpr int kMostRows = kMostBlockThreads / kLabTileColumns + 2 * Radius;
  T sample[kMostRows][kRoom];

  // All threads of a block together: load(x, y) gives the pixel so far from the tile's first one, for a tile
  // of so many rows. A barrier belongs behind it.
  template <class Load>
  __device__ void fill(int rows, const Load& load) {
    for (int i = static_cast<int>(threadIdx.x); i < (rows + 2 * Radius) * kRoom;
         i += static_cast<int>(blockDim.x))
      sample[i / kRoom][i % kRoom] = load(i % kRoom - Radius, i / kRoom - Radius);
  }
};

// Rows of a block's tiles, and the pixel of this thread in them.
__device__ inline int tile_rows_of_block() {
  return static_cast<int>(blockDim.x) / kLabTileColumns;
}
__device__ inline int tile_column_of_thread() {
  return static_cast<int>(threadIdx.x) % kLabTileColumns;
}
__device__ inline int tile_row_of_thread() {
  return static_cast<int>(threadIdx.x) / kLabTileColumns;
}

// The first pixel of a block's tile, striding over those that cover `columns` columns.
struct TileAt {
  std::int64_t left, top;
};
__device__ inline TileAt tile_number(std::uint64_t number, std::int64_t columns, std::int64_t tile_rows) {
  const auto across = static_cast<std::uint64_t>((columns + kLabTileColumns - 1) / kLabTileColumns);
  return {static_cast<std::int64_t>(number % across) * kLabTileColumns,
          static_cast<std::int64_t>(number / across) * tile_rows};
}

}  // namespace imgpipe
