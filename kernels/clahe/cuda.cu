// clahe of 8-bit samples: counts tiles in shared memory, then makes their tables. The blocks that compute the
// pixels of a row of cells keep the results for each value in shared memory, with four results packed in a
// word.
#include <algorithm>

#include "kernels/clahe/tables.cuh"
#include "kernels/shared/shared_counters.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr int kCountBlocks = 6;  // per multiprocessor, of 32 KiB each
constexpr int kBlocks = 6;

// Counts part blockIdx.x of tile blockIdx.y of plane blockIdx.z. Shared memory: a column of counters per
// lane, 32 KiB. Barriers: counters are cleared before the first count, and complete before they are added.
__global__ __launch_bounds__(kThreads) void clahe_count_kernel(DevicePlanes<const Sample8> planes,
                                                               ClaheTiles tiles, std::uint64_t* counters) {
  __shared__ __align__(16) std::uint32_t counts[kSharedCounters];
  const TileVectors<Sample8> vectors(plane_of_block(planes), tiles, blockIdx.y);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  clear_counters(counts);
  __syncthreads();
  const auto count_one = [&](std::uint32_t value) {
    atomicAdd(counts + value * kCounterColumns + threadIdx.x % kWarpLanes, 1U);
  };
  for (unsigned item = thread; item < vectors.items(); item += threads) {
    int first = 0;
    int end = 0;
    const uint4 vector = vectors.load(item, first, end);
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    if (first == 0) {
      count_vector(counts, words, end);
      continue;
    }
#pragma unroll
    for (int k = 0; k < kVectorPixels; ++k) {
      if (k >= first && k < end) count_one(byte_of(words, k));
    }
  }
  vectors.count_mirrored(static_cast<unsigned>(tiles.height), thread, threads, count_one);
  __syncthreads();
  flush_counters(counts, counters + (std::size_t{blockIdx.z} * gridDim.y + blockIdx.y) * kBins);
}

// The first image row of each row of cells, then the image's height.
struct CellRows {
  int first[kMaxTiles + 2];
};

CellRows cell_rows(const FrameType& in, const ClaheTiles& tiles) {
  CellRows rows{};
  for (int cell = 0; cell <= tiles.cells(); ++cell) {
    int low = 0;
    int high = static_cast<int>(in.height);
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (cell_position(middle, tiles.a_row).cell < cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    rows.first[cell] = low;
  }
  return rows;
}

// Returns the value of a pixel. `four`: the results of the tiles around its cell, the upper row first.
__device__ __forceinline__ std::uint32_t interpolated(std::uint32_t four, float across, float down) {
  const float above =
      clahe_mix(static_cast<float>(four & 0xFF), static_cast<float>(four >> 8 & 0xFF), across);
  const float below =
      clahe_mix(static_cast<float>(four >> 16 & 0xFF), static_cast<float>(four >> 24), across);
  return static_cast<std::uint32_t>(clahe_rounded(clahe_mix(above, below, down), kMaxSample));
}

// Computes the pixels of row blockIdx.y of cells in plane blockIdx.z. A warp processes a segment of a row at
// a time, each lane 16 adjacent pixels. Shared memory: a word for each value and cell, at most 17 KiB.
// Barrier: the words are complete before the first lookup; the first vector is loaded before that.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kBlocks)) void clahe_kernel(
    DevicePlanes<const Sample8> planes_in, DevicePlanes<Sample8> planes_out, ClaheTiles tiles,
    const __grid_constant__ CellRows cell_rows, const Sample8* pairs) {
  extern __shared__ std::uint32_t table[];
  const int row = static_cast<int>(blockIdx.y);
  const std::int64_t top = cell_rows.first[row];
  const Plane<const Sample8, Device> in = plane_of_block(planes_in);
  const Plane<Sample8, Device> out = plane_of_block(planes_out);
  RowSegments<1> at(in.width, cell_rows.first[row + 1] - top);
  uint4 vector{};
  const auto load = [&] {
    if (at.inside() && at.x() < in.width) vector = load_vector(in.row(top + at.y()) + at.x());
  };
  load();
  const int row_words = tiles.cells() * kBins;
  const auto* const all =
      reinterpret_cast<const std::uint16_t*>(pairs) + std::int64_t{blockIdx.z} * tiles.along_side * row_words;
  const std::uint16_t* const upper = all + tile_before(row) * row_words;
  const std::uint16_t* const lower = all + tile_after(row, tiles.along_side) * row_words;
  for (int i = static_cast<int>(threadIdx.x); i < row_words; i += kThreads)
    table[i] = __ldg(upper + i) | static_cast<std::uint32_t>(__ldg(lower + i)) << 16;
  __syncthreads();
  while (at.inside()) {
    const std::int64_t x = at.x();
    const std::int64_t y = top + at.y();
    const std::uint32_t from[4] = {vector.x, vector.y, vector.z, vector.w};
    at.next();
    load();
    if (x >= in.width) continue;
    const float down = cell_position(static_cast<int>(y), tiles.a_row).share;
    std::uint32_t words[4] = {};
#pragma unroll
    for (int k = 0; k < kVectorPixels; ++k) {
      const CellPosition position = cell_position(static_cast<int>(x) + k, tiles.a_column);
      // Pixels after the last column may have a cell that does not exist.
      const int cell = min(position.cell, tiles.along_side);
      const std::uint32_t four = table[static_cast<unsigned>(cell * kBins) + byte_of(from, k)];
      words[k / 4] |= interpolated(four, position.share, down) << (8 * (k % 4));
    }
    store_vector(out.row(y) + x, words, in.width - x);
  }
}

CudaStatus count_tiles(const StageCall<Device>& call, const ClaheTiles& tiles,
                       const DevicePlanes<const Sample8>& planes, std::uint64_t* counters,
                       const CudaLaunch& launch) {
  const int all = tiles.count() * call.in.type.color_channels;
  const cudaError_t cleared = cudaMemsetAsync(
      counters, 0, static_cast<std::size_t>(all) * kBins * sizeof(std::uint64_t), launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const std::int64_t useful = (tiles.pixels() / kVectorPixels + kThreads) / kThreads;
  const std::int64_t filling = std::max(1, launch.multiprocessors * kCountBlocks / all);
  const dim3 grid(static_cast<unsigned>(std::min(useful, filling)), static_cast<unsigned>(tiles.count()),
                  static_cast<unsigned>(call.in.type.color_channels));
  clahe_count_kernel<<<grid, kThreads, 0, launch.stream>>>(planes, tiles, counters);
  return cudaGetLastError();
}

}  // namespace

CudaStatus clahe_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  const ClaheTiles tiles(type, call.parameters);
  const auto planes = static_cast<unsigned>(type.color_channels);
  auto* const counters = reinterpret_cast<std::uint64_t*>(call.scratch);
  auto* const pairs = reinterpret_cast<Sample8*>(counters + std::int64_t{tiles.count()} * kBins * planes);
  const DevicePlanes<const Sample8> in{
      {call.in.plane<Sample8>(0), call.in.plane<Sample8>(1), call.in.plane<Sample8>(2)}};
  const DevicePlanes<Sample8> out{
      {call.out.plane<Sample8>(0), call.out.plane<Sample8>(1), call.out.plane<Sample8>(2)}};
  if (const CudaStatus status = count_tiles(call, tiles, in, counters, launch); status != cudaSuccess)
    return status;
  clahe_tables_kernel<Sample8>
      <<<dim3(static_cast<unsigned>(tiles.count()), planes), kTableThreads<Sample8>, 0, launch.stream>>>(
          counters, tiles, pairs);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  const unsigned rows_of_cells = static_cast<unsigned>(tiles.cells());
  FrameType of_a_cell = type;  // with the greatest height of a row of cells
  of_a_cell.height = std::min(type.height, tiles.height + 1);
  const unsigned share =
      std::max(1U, static_cast<unsigned>(launch.multiprocessors * kBlocks) / (rows_of_cells * planes));
  const dim3 grid(std::min(share, stride_blocks<1>(launch, of_a_cell, kThreads, kBlocks)), rows_of_cells,
                  planes);
  clahe_kernel<<<grid, kThreads, rows_of_cells * kBins * sizeof(std::uint32_t), launch.stream>>>(
      in, out, tiles, cell_rows(type, tiles), pairs);
  return cudaGetLastError();
}

}  // namespace imgpipe
