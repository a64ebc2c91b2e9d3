// clahe on a CUDA device: makes tables from the counts of tiles, for 8- and 16-bit samples.
//
//   counters   plane | tile | value           several blocks add to them
//   pairs      plane | row of tiles | cell | value | tile before, tile after
#pragma once

#include "kernels/clahe/clahe.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

// The number of adjacent values that a thread processes at a time.
constexpr unsigned kTableValues = 4;
// Threads per block; 64 for 8 bits, so that a block makes a single pass over the values.
template <class T>
constexpr unsigned kTableThreads = kIsWide<T> ? 1024 : (kLargest<T> + 1) / kTableValues;

__device__ __forceinline__ void load_counts(const std::uint32_t* from,
                                            std::uint32_t (&counts)[kTableValues]) {
  const uint4 four = *reinterpret_cast<const uint4*>(from);
  counts[0] = four.x;
  counts[1] = four.y;
  counts[2] = four.z;
  counts[3] = four.w;
}
__device__ __forceinline__ void load_counts(const std::uint64_t* from,
                                            std::uint32_t (&counts)[kTableValues]) {
#pragma unroll
  for (unsigned i = 0; i < kTableValues; ++i) counts[i] = static_cast<std::uint32_t>(from[i]);
}

// Returns the sum over all threads of a block, which must all call this. `warp_sums` holds a word per warp.
template <unsigned Threads>
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t value, std::uint32_t* warp_sums) {
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, step);
  if (threadIdx.x % kWarpLanes == 0) warp_sums[threadIdx.x / kWarpLanes] = value;
  __syncthreads();
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned warp = 0; warp < Threads / kWarpLanes; ++warp) sum += warp_sums[warp];
  return sum;
}

// Writes a tile's results for four values from `value` on to the cells next to it, as clahe_table() does.
template <class T>
__device__ __forceinline__ void store_results(const ClaheTiles& tiles, unsigned tile, unsigned value,
                                              const T (&results)[kTableValues], T* pairs) {
  constexpr unsigned kValues = kLargest<T> + 1;
  const auto along = static_cast<unsigned>(tiles.along_side);
  const unsigned column = tile % along;
  T* const first = pairs + (std::size_t{tile / along} * (along + 1) + column) * 2 * kValues + 2 * value;
  T* const next = first + 2 * kValues;
#pragma unroll
  for (unsigned i = 0; i < kTableValues; ++i) {
    first[2 * i + 1] = results[i];
    next[2 * i] = results[i];
    if (column == 0) first[2 * i] = results[i];
    if (column == along - 1) next[2 * i + 1] = results[i];
  }
}

// One block makes the table of one tile of one plane (grid: tile, plane). It reads the counts twice: for the
// excess over the limit, then for the cumulative sums, in rounds of kTableValues values per thread. Shared
// memory: a word per warp for the excess, and two sets of a word per warp. The rounds use the two sets
// alternately, so that each round needs only one barrier, after storing the warps' sums.
template <class T, class Counter>
__global__ __launch_bounds__(kTableThreads<T>) void clahe_tables_kernel(const Counter* counters,
                                                                        ClaheTiles tiles, T* pairs) {
  constexpr unsigned kThreads = kTableThreads<T>;
  constexpr unsigned kValues = kLargest<T> + 1;
  constexpr unsigned kRound = kThreads * kTableValues;
  __shared__ std::uint32_t excess_room[kThreads / kWarpLanes];
  __shared__ std::uint32_t warp_sums[2][kThreads / kWarpLanes];
  const unsigned tile = blockIdx.x;
  const auto tile_count = static_cast<unsigned>(tiles.count());
  const Counter* const counts = counters + (std::size_t{blockIdx.y} * tile_count + tile) * kValues;
  T* const plane_pairs =
      pairs + std::size_t{blockIdx.y} * 2 * kValues * static_cast<unsigned>(tiles.along_side * tiles.cells());
  const auto limit = static_cast<std::uint32_t>(tiles.limit > 0 ? tiles.limit : tiles.pixels());
  std::uint32_t excess = 0;
  std::uint32_t own[kTableValues];
  for (unsigned value = threadIdx.x * kTableValues; value < kValues; value += kRound) {
    load_counts(counts + value, own);
#pragma unroll
    for (const std::uint32_t count : own) excess += count - min(count, limit);
  }
  const ClaheExcess more(block_sum<kThreads>(excess, excess_room), kValues);
  const unsigned lane = threadIdx.x % kWarpLanes;
  const unsigned warp = threadIdx.x / kWarpLanes;
  std::uint32_t before = 0;  // sum of the previous rounds
  for (unsigned round = 0; round < kValues / kRound; ++round) {
    const unsigned value = round * kRound + threadIdx.x * kTableValues;
    load_counts(counts + value, own);
#pragma unroll
    for (unsigned i = 0; i < kTableValues; ++i) own[i] = min(own[i], limit) + (i == 0 ? 0 : own[i - 1]);
    std::uint32_t not_above = own[kTableValues - 1];
#pragma unroll
    for (unsigned step = 1; step < kWarpLanes; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xFFFFFFFF, not_above, step);
      if (lane >= step) not_above += other;
    }
    std::uint32_t* const sums = warp_sums[round % 2];
    if (lane == kWarpLanes - 1) sums[warp] = not_above;
    __syncthreads();
    std::uint32_t below = before + not_above - own[kTableValues - 1];
#pragma unroll
    for (unsigned i = 0; i < kThreads / kWarpLanes; ++i) {
      if (i < warp) below += sums[i];
      before += sums[i];
    }
    T results[kTableValues];
#pragma unroll
    for (unsigned i = 0; i < kTableValues; ++i) {
      results[i] =
          static_cast<T>(equalized(below + own[i] + more.up_to(value + i), tiles.scale, kLargest<T>));
    }
    store_results(tiles, tile, value, results, plane_pairs);
  }
}

// Loads the samples of a tile between the image's left and right sides, row by row, in aligned vectors of 16
// bytes. Rows below the image are read from the rows that they mirror.
template <class T>
struct TileVectors {
  static constexpr int kPixels = 16 / static_cast<int>(sizeof(T));

  __device__ TileVectors(const Plane<const T, Device>& plane, const ClaheTiles& tiles, unsigned tile)
      : plane_(plane),
        top_(std::int64_t{tile / static_cast<unsigned>(tiles.along_side)} * tiles.height),
        left_(std::int64_t{tile % static_cast<unsigned>(tiles.along_side)} * tiles.width),
        right_(min(plane.width, left_ + tiles.width)),
        first_(left_ / kPixels * kPixels),
        vectors_(right_ <= left_ ? 0 : static_cast<unsigned>((right_ - first_ + kPixels - 1) / kPixels)),
        items_(vectors_ * static_cast<unsigned>(tiles.height)),
        mirrored_(static_cast<unsigned>(left_ + tiles.width - max(left_, right_))) {}

  // Returns the number of vectors in the whole tile, which several threads share.
  [[nodiscard]] __device__ unsigned items() const { return items_; }
  // Returns vector `item`; its samples `first` to `end` - 1 belong to the tile.
  __device__ uint4 load(unsigned item, int& first, int& end) const {
    const unsigned row = item / vectors_;
    const std::int64_t x = first_ + std::int64_t{item - row * vectors_} * kPixels;
    first = static_cast<int>(max(left_ - x, std::int64_t{0}));
    end = static_cast<int>(min(right_ - x, std::int64_t{kPixels}));
    return load_vector(row_of(row) + x);
  }

  // Calls count(value) for the calling thread's share of the tile's pixels to the right of the image: pixels
  // first, first + step and so on.
  template <class Count>
  __device__ void count_mirrored(unsigned height, unsigned first, unsigned step, const Count& count) const {
    const std::uint64_t all = std::uint64_t{mirrored_} * height;
    const std::int64_t after = max(left_, right_);
    for (std::uint64_t i = first; i < all; i += step) {
      const std::int64_t x = after + static_cast<std::int64_t>(i % mirrored_);
      count(row_of(static_cast<std::int64_t>(i / mirrored_))[reflected(x, plane_.width)]);
    }
  }

 private:
  // Returns a row of the tile. Most rows lie inside the image, which avoids the division in reflected().
  [[nodiscard]] __device__ const T* row_of(std::int64_t row) const {
    const std::int64_t y = top_ + row;
    return plane_.row(y < plane_.height ? y : reflected(y, plane_.height));
  }

  Plane<const T, Device> plane_;
  std::int64_t top_, left_, right_, first_;
  unsigned vectors_, items_, mirrored_;
};

}  // namespace imgpipe
