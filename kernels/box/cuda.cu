// box on a CUDA device. A block of threads computes a strip of columns from top to bottom, kBatch rows at a
// time. Its threads keep running sums down the columns. Then each warp computes one row's prefix sums of
// these; a window's sum is the difference of two of them, whatever the radius (both may wrap).
#include <algorithm>
#include <cstdint>

#include "kernels/box/box.h"
#include "kernels/shared/shared_tile.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr int kBatch = kThreads / kWarpLanes;  // rows, one per warp
constexpr int kStrip = 512;                    // of the output
constexpr int kMaxColumns = kStrip + 2 * kMaxBoxRadius;
constexpr int kThreadColumns = (kMaxColumns + kThreads - 1) / kThreads;  // columns per thread
constexpr int kBlocks = 8;             // per multiprocessor, if there is enough work
constexpr std::int64_t kMinRows = 32;  // per block

struct BoxWork {
  int radius;
  Border border;
  BoxDivisor<> divisor;     // for a whole window
  std::int64_t block_rows;  // a multiple of kBatch
};

// Returns the position to read for pixel i, or -1 if the pixel is ignored (Border::shrink).
__device__ __forceinline__ std::int64_t box_source(std::int64_t i, std::int64_t size, Border border) {
  if (i >= 0 && i < size) return i;
  if (border == Border::shrink) return -1;
  return border == Border::reflect ? reflected(i, size) : replicated(i, size);
}

// The columns that a thread handles: threadIdx.x, threadIdx.x + kThreads, ..., counted from `radius` pixels
// before the strip, which begins at pixel x. The strip extends by `radius` neighbours on either side.
template <class T>
struct ThreadColumns {
  std::int64_t at[kThreadColumns];  // -1: none
  std::uint32_t sum[kThreadColumns] = {};

  __device__ ThreadColumns(std::int64_t x, std::int64_t width, const BoxWork& work) {
#pragma unroll
    for (int i = 0; i < kThreadColumns; ++i) {
      const int column = static_cast<int>(threadIdx.x) + i * kThreads;
      const std::int64_t pixel = x - work.radius + column;
      const bool wanted = column < kStrip + 2 * work.radius && pixel < width + work.radius;
      at[i] = wanted ? box_source(pixel, width, work.border) : -1;
    }
  }

  // Adds or subtracts the samples of row y.
  template <bool Adds>
  __device__ __forceinline__ void change(const Plane<const T, Device>& from, std::int64_t y, Border border) {
    const std::int64_t source = box_source(y, from.height, border);
    if (source < 0) return;
    const T* row = from.row(source);
#pragma unroll
    for (int i = 0; i < kThreadColumns; ++i) {
      const std::uint32_t sample = at[i] >= 0 ? __ldg(row + at[i]) : 0U;
      sum[i] += Adds ? sample : 0U - sample;
    }
  }
};

// Replaces sums[0..columns-1] by their exclusive prefix sums, and sums[columns] by the total, with one warp.
__device__ __forceinline__ void sums_before(std::uint32_t* sums, int columns, int lane) {
  std::uint32_t before = 0;
  for (int first = 0; first <= columns; first += kWarpLanes) {
    const int column = first + lane;
    const std::uint32_t own = column < columns ? sums[column] : 0U;
    std::uint32_t upto = own;
#pragma unroll
    for (int distance = 1; distance < kWarpLanes; distance *= 2) {
      const std::uint32_t left = __shfl_up_sync(0xFFFFFFFFU, upto, static_cast<unsigned>(distance));
      if (lane >= distance) upto += left;
    }
    if (column <= columns) sums[column] = before + upto - own;
    before += __shfl_sync(0xFFFFFFFFU, upto, kWarpLanes - 1);
  }
  __syncwarp();
}

// Writes a row of the output from pixel x on, with one warp.
template <class T>
__device__ __forceinline__ void write_means(const std::uint32_t* before, const Plane<T, Device>& to,
                                            std::int64_t x, std::int64_t y, int lane, const BoxWork& work) {
  const int side = 2 * work.radius + 1;
  const std::uint32_t rows = counted(y, to.height, work.radius);
  T* row = to.row(y);
  for (int column = lane; column < kStrip && x + column < to.width; column += kWarpLanes) {
    const std::uint32_t sum = before[column + side] - before[column];
    std::uint32_t pixels = static_cast<std::uint32_t>(side * side);
    if (work.border == Border::shrink) pixels = rows * counted(x + column, to.width, work.radius);
    const bool whole = pixels == static_cast<std::uint32_t>(side * side);
    const std::uint32_t quotient =
        __umulhi(sum + work.divisor.add, work.divisor.factor) >> work.divisor.shift;
    row[x + column] = static_cast<T>(whole ? quotient : box_mean(sum, pixels));
  }
}

// Computes strip blockIdx.x of plane blockIdx.z, rows from blockIdx.y * work.block_rows on. Shared memory:
// the sums of a batch of rows, 24 KiB. Barriers: after storing the batch; after reading it.
template <class T>
__global__ __launch_bounds__(kThreads) void box_kernel(DevicePlanes<const T> in, DevicePlanes<T> out,
                                                       BoxWork work) {
  __shared__ std::uint32_t sums[kBatch][kMaxColumns + 1];
  const Plane<const T, Device> from = plane_of_block(in);
  const Plane<T, Device> to = plane_of_block(out);
  const std::int64_t x = std::int64_t{blockIdx.x} * kStrip;
  const std::int64_t top = std::int64_t{blockIdx.y} * work.block_rows;
  const std::int64_t end = min(top + work.block_rows, to.height);
  const int columns = kStrip + 2 * work.radius;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  ThreadColumns<T> own(x, from.width, work);
#pragma unroll 4
  for (std::int64_t y = top - work.radius; y < top + work.radius; ++y)
    own.template change<true>(from, y, work.border);
  for (std::int64_t y = top; y < end; y += kBatch) {
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      own.template change<true>(from, y + j + work.radius, work.border);
#pragma unroll
      for (int i = 0; i < kThreadColumns; ++i) {
        const int column = static_cast<int>(threadIdx.x) + i * kThreads;
        if (column < columns) sums[j][column] = own.sum[i];
      }
      own.template change<false>(from, y + j - work.radius, work.border);
    }
    __syncthreads();
    if (y + warp < end) {
      sums_before(sums[warp], columns, lane);
      write_means(sums[warp], to, x, y + warp, lane, work);
    }
    __syncthreads();
  }
}

// Returns the number of rows per block. It is small enough for the blocks to fill the device, and large
// enough that summing each block's first windows is a small part of the work.
std::int64_t rows_of_a_block(const FrameType& type, int radius, std::int64_t strips,
                             const CudaLaunch& launch) {
  const std::int64_t wanted = std::int64_t{launch.multiprocessors} * kBlocks;
  const std::int64_t across = strips * type.color_channels;
  const std::int64_t segments = (wanted + across - 1) / across;
  const std::int64_t rows =
      std::max({(type.height + segments - 1) / segments, kMinRows, std::int64_t{2} * radius});
  return (rows + kBatch - 1) / kBatch * kBatch;
}

template <class T>
CudaStatus launch_box(const StageCall<Device>& call, const CudaLaunch& launch) {
  const BoxParameters box(call.parameters);
  const FrameType& type = call.in.type;
  const auto side = static_cast<std::uint32_t>(2 * box.radius + 1);
  const std::int64_t strips = (type.width + kStrip - 1) / kStrip;
  const std::int64_t rows = rows_of_a_block(type, box.radius, strips, launch);
  const BoxWork work{box.radius, box.border, box_divisor(side * side), rows};
  const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>((type.height + rows - 1) / rows),
                  static_cast<unsigned>(type.color_channels));
  box_kernel<T>
      <<<grid, kThreads, 0, launch.stream>>>(color_planes_of<T>(call.in), color_planes_of<T>(call.out), work);
  return cudaGetLastError();
}

}  // namespace

CudaStatus box_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_box<T>(call, launch); });
}

}  // namespace imgpipe
