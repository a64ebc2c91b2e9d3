// The CUDA variants of clahe, oldest first.
#include "kernels/clahe/clahe.h"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

// One tile's counters and table, in the scratch memory.
struct TileData {
  std::uint32_t counts[kBins];
  Sample8 table[kBins];
};

// Returns pixel `index` of a tile. The tile may extend beyond the image, where coordinates are reflected.
__device__ __forceinline__ Sample8 tile_pixel(const Source& in, const ClaheTiles& tiles, unsigned tile,
                                              std::int64_t index) {
  const auto along = static_cast<unsigned>(tiles.along_side);
  const std::int64_t x = std::int64_t{tile % along} * tiles.width + index % tiles.width;
  const std::int64_t y = std::int64_t{tile / along} * tiles.height + index / tiles.width;
  return in.row(reflected(y, in.height))[reflected(x, in.width)];
}

__device__ __forceinline__ std::uint32_t limited(std::uint32_t count, const ClaheTiles& tiles) {
  return tiles.limit > 0 && count > tiles.limit ? static_cast<std::uint32_t>(tiles.limit) : count;
}

__device__ __forceinline__ Sample8 becomes(std::uint32_t up_to, const ClaheTiles& tiles) {
  return static_cast<Sample8>(equalized(up_to, tiles.scale, kMaxSample));
}

// ---- one thread per pixel, one thread per table ------------------------------------------------------

// Counts the values in tile blockIdx.y; threads stride over its pixels. Counters are 0 before the launch.
__global__ __launch_bounds__(kMaxBlockThreads) void count_kernel(Source in, ClaheTiles tiles, TileData* all) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < tiles.pixels();
       i += std::int64_t{gridDim.x} * blockDim.x)
    atomicAdd(all[blockIdx.y].counts + tile_pixel(in, tiles, blockIdx.y, i), 1U);
}

// Makes the table of tile blockIdx.x, with one thread per block.
__global__ void serial_table_kernel(ClaheTiles tiles, TileData* all) {
  TileData& own = all[blockIdx.x];
  std::uint32_t excess = 0;
  for (const std::uint32_t count : own.counts) excess += count - limited(count, tiles);
  const ClaheExcess shared_out(excess, kBins);
  std::uint32_t sum = 0;
  for (unsigned v = 0; v < kBins; ++v) {
    sum += limited(own.counts[v], tiles);
    own.table[v] = becomes(sum + shared_out.up_to(v), tiles);
  }
}

// ---- one block per tile ------------------------------------------------------------------------------

// Returns the sum of `value` over this thread and those before it in a block of kBins threads; sets `total`
// to the sum over all threads. Shared memory: a word per warp. Barriers separate writing, reading, and the
// next call.
__device__ std::uint32_t block_sum_up_to(std::uint32_t value, std::uint32_t& total) {
  __shared__ std::uint32_t warp_sums[kBins / kWarpLanes];
#pragma unroll
  for (unsigned step = 1; step < kWarpLanes; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xFFFFFFFF, value, step);
    if (threadIdx.x % kWarpLanes >= step) value += other;
  }
  if (threadIdx.x % kWarpLanes == kWarpLanes - 1) warp_sums[threadIdx.x / kWarpLanes] = value;
  __syncthreads();
  total = 0;
#pragma unroll
  for (unsigned warp = 0; warp < kBins / kWarpLanes; ++warp) {
    if (warp < threadIdx.x / kWarpLanes) value += warp_sums[warp];
    total += warp_sums[warp];
  }
  __syncthreads();
  return value;
}

// Makes the table of tile blockIdx.x. Shared memory: 256 counters. Barriers: counters are cleared before the
// first count and complete before they are read.
__global__ __launch_bounds__(kBins) void tile_kernel(Source in, ClaheTiles tiles, TileData* all) {
  __shared__ std::uint32_t counts[kBins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < tiles.pixels(); i += kBins)
    atomicAdd(counts + tile_pixel(in, tiles, blockIdx.x, i), 1U);
  __syncthreads();
  const std::uint32_t own = limited(counts[threadIdx.x], tiles);
  std::uint32_t excess = 0;
  (void)block_sum_up_to(counts[threadIdx.x] - own, excess);
  std::uint32_t samples = 0;
  const std::uint32_t sum = block_sum_up_to(own, samples);
  all[blockIdx.x].table[threadIdx.x] = becomes(sum + ClaheExcess(excess, kBins).up_to(threadIdx.x), tiles);
}

// ---- lookups ----------------------------------------------------------------------------------------

// For the pixels of one row: the two rows of tiles around it, and the weight of the lower one.
struct RowTiles {
  const TileData* upper;
  const TileData* lower;
  float down;

  __device__ RowTiles(const ClaheTiles& tiles, const TileData* all, std::int64_t y) {
    const CellPosition position = cell_position(static_cast<int>(y), tiles.a_row);
    upper = all + tile_before(position.cell) * tiles.along_side;
    lower = all + tile_after(position.cell, tiles.along_side) * tiles.along_side;
    down = position.share;
  }
  __device__ Sample8 mixed(const ClaheTiles& tiles, std::int64_t x, std::uint32_t value) const {
    const CellPosition position = cell_position(static_cast<int>(x), tiles.a_column);
    // A word may extend past the last column, to a cell that does not exist.
    const int cell = min(position.cell, tiles.along_side);
    const int left = tile_before(cell);
    const int right = tile_after(cell, tiles.along_side);
    const float above = clahe_mix(upper[left].table[value], upper[right].table[value], position.share);
    const float below = clahe_mix(lower[left].table[value], lower[right].table[value], position.share);
    return static_cast<Sample8>(clahe_rounded(clahe_mix(above, below, down), kMaxSample));
  }
};

// One thread per pixel; the grid strides over rows.
__global__ __launch_bounds__(kMaxBlockThreads) void mix_kernel(Source in, Target out, ClaheTiles tiles,
                                                               const TileData* all) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y)
    out.row(y)[x] = RowTiles(tiles, all, y).mixed(tiles, x, in.row(y)[x]);
}

// Four pixels per thread.
__global__ __launch_bounds__(kMaxBlockThreads) void mix_words_kernel(Source in, Target out, ClaheTiles tiles,
                                                                     const TileData* all) {
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    const RowTiles row(tiles, all, at.y());
    std::int64_t x = at.x();
    store_word(out.row(at.y()) + at.x(),
               mapped_word<Sample8>(load_word(in.row(at.y()) + at.x()),
                                    [&](std::uint32_t value) { return row.mixed(tiles, x++, value); }),
               at.left());
  }
}

TileData* tiles_of(const VariantLaunch& launch) {
  return static_cast<TileData*>(launch.scratch);
}

CudaStatus launch_mix(const ClaheTiles& tiles, const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_pixels(mix_kernel, covering(call, launch), call, launch, tiles, tiles_of(launch));
}

void launch_tiles(const ClaheTiles& tiles, const StageCall<Device>& call, const VariantLaunch& launch) {
  tile_kernel<<<static_cast<unsigned>(tiles.count()), kBins, 0, launch.stream>>>(call.in.plane<Sample8>(0),
                                                                                 tiles, tiles_of(launch));
}

}  // namespace

std::size_t clahe_scratch_bytes(const FrameType&, const VariantLaunch&) {
  return std::size_t{kMaxTiles} * kMaxTiles * sizeof(TileData);
}

CudaStatus clahe_naive(const StageCall<Device>& call, const VariantLaunch& launch) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  const auto count = static_cast<unsigned>(tiles.count());
  const cudaError_t cleared = cudaMemsetAsync(launch.scratch, 0, count * sizeof(TileData), launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const unsigned block = block_of(launch, kBlock);
  const unsigned blocks = static_cast<unsigned>(launch.multiprocessors * kResident) / count + 1;
  count_kernel<<<dim3(blocks, count), block, 0, launch.stream>>>(call.in.plane<Sample8>(0), tiles,
                                                                 tiles_of(launch));
  serial_table_kernel<<<count, 1, 0, launch.stream>>>(tiles, tiles_of(launch));
  return launch_mix(tiles, call, launch);
}

CudaStatus clahe_block_a_tile(const StageCall<Device>& call, const VariantLaunch& launch) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  launch_tiles(tiles, call, launch);
  return launch_mix(tiles, call, launch);
}

CudaStatus clahe_words(const StageCall<Device>& call, const VariantLaunch& launch) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  launch_tiles(tiles, call, launch);
  return launch_pixels(mix_words_kernel, striding(launch), call, launch, tiles, tiles_of(launch));
}

}  // namespace imgpipe
