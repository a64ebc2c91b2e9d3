// clahe of 16-bit samples, one plane at a time: the tables of a plane take 19 MB with 8 tiles along each
// side, which fits in the L2 cache. Tiles are counted with PackedCounters, as in hist16.
#include <algorithm>

#include "kernels/clahe/tables.cuh"
#include "kernels/shared/count_warp.cuh"

namespace imgpipe {
namespace {

constexpr int kCountThreads = 1024;
constexpr int kThreads = 256;
constexpr int kBlocks = 6;  // per multiprocessor

// Counts part blockIdx.z of the values in part blockIdx.x of tile blockIdx.y. A lane counts 8 adjacent
// samples while the next 8 load; the lanes of a warp continue until all are done. Shared memory:
// SharedHistogram. Barriers: counters are cleared before the first count, and complete before they are added.
template <int Parts>
__global__ __launch_bounds__(kCountThreads, 1) void clahe16_count_kernel(Plane<const Sample16, Device> plane,
                                                                         ClaheTiles tiles,
                                                                         std::uint32_t* counts) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<SharedHistogram<Parts, kCountThreads>*>(shared_bytes);
  PackedCounters<Parts, std::uint32_t> counters{shared.words, counts + std::size_t{blockIdx.y} * kWideBins,
                                                blockIdx.z};
  const TileVectors<Sample16> vectors(plane, tiles, blockIdx.y);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned item = thread;
  uint4 vector{};
  int first = 0;
  int end = 0;
  const auto load_next = [&] {
    first = end = 0;
    if (item >= vectors.items()) return;
    vector = vectors.load(item, first, end);
    item += threads;
  };
  load_next();
  counters.clear();
  __syncthreads();
  WarpCounter warp(counters, shared.hot[threadIdx.x / kWarpLanes]);
  while (__any_sync(kAllLanes, end > 0 ? 1 : 0) != 0) {
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    const int from = first;
    const int to = end;
    load_next();
    if (from > 0) {
#pragma unroll
      for (int k = 0; k < kWideVectorPixels; ++k) {
        if (k >= from && k < to) counters.add(wide_of(words, k), 1);
      }
    }
    warp.count(words, from > 0 ? 0 : to);
  }
  warp.flush();
  vectors.count_mirrored(static_cast<unsigned>(tiles.height), thread, threads,
                         [&](std::uint32_t value) { counters.add(value, 1); });
  __syncthreads();
  counters.flush();
}

// Returns the weighted mean of the results of the tiles before and after a cell.
__device__ __forceinline__ float mixed_pair(std::uint32_t pair, float share) {
  return clahe_mix(static_cast<float>(pair & 0xFFFF), static_cast<float>(pair >> 16), share);
}

// A lane processes 8 adjacent pixels at a time; all of their lookups are in flight together.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kBlocks)) void clahe16_kernel(
    Plane<const Sample16, Device> in, Plane<Sample16, Device> out, ClaheTiles tiles,
    const std::uint32_t* pairs) {
  const std::int64_t row_pairs = std::int64_t{kWideBins} * tiles.cells();
  for (RowSegments<1, kWideVectorPixels> at(in.width, in.height); at.inside(); at.next()) {
    if (at.x() >= in.width) continue;
    const uint4 vector = load_vector(in.row(at.y()) + at.x());
    const std::uint32_t from[4] = {vector.x, vector.y, vector.z, vector.w};
    const CellPosition row = cell_position(static_cast<int>(at.y()), tiles.a_row);
    const std::uint32_t* const upper = pairs + tile_before(row.cell) * row_pairs;
    const std::uint32_t* const lower = pairs + tile_after(row.cell, tiles.along_side) * row_pairs;
    std::uint32_t above[kWideVectorPixels];
    std::uint32_t below[kWideVectorPixels];
    float across[kWideVectorPixels];
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      const CellPosition position = cell_position(static_cast<int>(at.x()) + k, tiles.a_column);
      across[k] = position.share;
      // Pixels after the last column may have a cell that does not exist.
      const auto cell = static_cast<std::uint32_t>(min(position.cell, tiles.along_side));
      const std::uint32_t index = cell * kWideBins + wide_of(from, k);
      above[k] = __ldg(upper + index);
      below[k] = __ldg(lower + index);
    }
    std::uint32_t values[kWideVectorPixels];
#pragma unroll
    for (int k = 0; k < kWideVectorPixels; ++k) {
      const float value =
          clahe_mix(mixed_pair(above[k], across[k]), mixed_pair(below[k], across[k]), row.share);
      values[k] = static_cast<std::uint32_t>(clahe_rounded(value, kLargest<Sample16>));
    }
    const std::uint32_t words[4] = {pack_low(values[0], values[1]), pack_low(values[2], values[3]),
                                    pack_low(values[4], values[5]), pack_low(values[6], values[7])};
    store_vector(out.row(at.y()) + at.x(), words, in.width - at.x());
  }
}

template <int Parts>
CudaStatus count_tiles(const Plane<const Sample16, Device>& plane, const ClaheTiles& tiles,
                       std::uint32_t* counters, const CudaLaunch& launch) {
  constexpr auto kBytes = static_cast<int>(sizeof(SharedHistogram<Parts, kCountThreads>));
  const cudaError_t allowed =
      cudaFuncSetAttribute(clahe16_count_kernel<Parts>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (allowed != cudaSuccess) return allowed;
  const std::int64_t useful = (tiles.pixels() / kWideVectorPixels + kCountThreads) / kCountThreads;
  const std::int64_t filling = std::max(1, launch.multiprocessors / tiles.count());
  const dim3 grid(static_cast<unsigned>(std::min(useful, filling)), static_cast<unsigned>(tiles.count()),
                  Parts);
  clahe16_count_kernel<Parts><<<grid, kCountThreads, kBytes, launch.stream>>>(plane, tiles, counters);
  return cudaGetLastError();
}

CudaStatus clahe_plane(const Plane<const Sample16, Device>& in, const Plane<Sample16, Device>& out,
                       const ClaheTiles& tiles, std::byte* memory, int parts, const CudaLaunch& launch) {
  auto* const counters = reinterpret_cast<std::uint32_t*>(memory);
  const std::size_t count = static_cast<std::size_t>(tiles.count()) * kWideBins;
  std::uint32_t* const pairs = counters + count;
  const cudaError_t cleared = cudaMemsetAsync(counters, 0, count * sizeof(std::uint32_t), launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const CudaStatus counted = parts == 1   ? count_tiles<1>(in, tiles, counters, launch)
                             : parts == 2 ? count_tiles<2>(in, tiles, counters, launch)
                                          : count_tiles<4>(in, tiles, counters, launch);
  if (counted != cudaSuccess) return counted;
  clahe_tables_kernel<Sample16>
      <<<static_cast<unsigned>(tiles.count()), kTableThreads<Sample16>, 0, launch.stream>>>(
          counters, tiles, reinterpret_cast<Sample16*>(pairs));
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  const FrameType shape{.width = in.width, .height = in.height};
  const unsigned blocks = stride_blocks<1, kWideVectorPixels>(launch, shape, kThreads, kBlocks);
  clahe16_kernel<<<blocks, kThreads, 0, launch.stream>>>(in, out, tiles, pairs);
  return cudaGetLastError();
}

}  // namespace

CudaStatus clahe16_parts_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int parts) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const CudaStatus status = clahe_plane(call.in.plane<Sample16>(i), call.out.plane<Sample16>(i), tiles,
                                          call.scratch, parts, launch);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

CudaStatus clahe16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  int parts = 0;
  if (const cudaError_t status = parts_that_fit<kCountThreads>(parts); status != cudaSuccess) return status;
  return clahe16_parts_cuda(call, launch, parts);
}

}  // namespace imgpipe
