// The CUDA variants of smooth, oldest first.
#include "kernels/smooth/interior.cuh"
#include "kernels/smooth/smooth.h"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/tiles.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

// Returns how many of i - 2 .. i + 2 are in 0..size-1.
__device__ __forceinline__ std::uint32_t taps_inside(std::int64_t i, std::int64_t size) {
  const std::int64_t first = i < kRadius ? 0 : i - kRadius;
  const std::int64_t end = i + kRadius < size ? i + kRadius + 1 : size;
  return static_cast<std::uint32_t>(end - first);
}

// Makes 25 loads from global memory, each after two checks.
template <class T>
__device__ T checked_mean(const SourceOf<T>& in, std::int64_t x, std::int64_t y) {
  std::uint32_t sum = 0;
  std::uint32_t weights = 0;
#pragma unroll
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      if (y + dy < 0 || y + dy >= in.height || x + dx < 0 || x + dx >= in.width) continue;
      sum += in.row(y + dy)[x + dx];
      ++weights;
    }
  }
  return weighted_mean<T>(sum, weights);
}

// One thread per pixel.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void naive_kernel(SourceOf<T> in, TargetOf<T> out) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) out.row(y)[x] = checked_mean<T>(in, x, y);
}

// ---- tiles in shared memory ---------------------------------------------------------------------------

template <class T>
using Tile = LabTile<T, kRadius>;

// Returns the sum of the 25 pixels from (x, y) on, in coordinates of the tile with its margin.
template <class T>
__device__ std::uint32_t window_sum(const Tile<T>& tile, int x, int y) {
  std::uint32_t sum = 0;
#pragma unroll
  for (int dy = 0; dy < kTaps; ++dy) {
#pragma unroll
    for (int dx = 0; dx < kTaps; ++dx) sum += tile.sample[y + dy][x + dx];
  }
  return sum;
}

// Every load is checked and is 0 outside; every pixel counts its taps. Shared memory: a tile.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void tile_kernel(SourceOf<T> in, TargetOf<T> out) {
  __shared__ Tile<T> tile;
  const auto load = [&](std::int64_t x, std::int64_t y) {
    const bool inside = x >= 0 && x < in.width && y >= 0 && y < in.height;
    return inside ? in.row(y)[x] : T{0};
  };
  each_tile(tile, in.width, in.height, load, [&](std::int64_t x, std::int64_t y, int column, int row) {
    if (x < in.width && y < in.height) {
      out.row(y)[x] = weighted_mean<T>(window_sum(tile, column, row),
                                       taps_inside(x, in.width) * taps_inside(y, in.height));
    }
  });
}

// Tiles whose windows are inside the image: no checks, and the number of taps is constant.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void interior_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                    Interior interior) {
  __shared__ Tile<T> tile;
  each_tile(
      tile, interior.x1 - interior.x0, interior.y1 - interior.y0,
      [&](std::int64_t x, std::int64_t y) { return in.row(interior.y0 + y)[interior.x0 + x]; },
      [&](std::int64_t x, std::int64_t y, int column, int row) {
        out.row(interior.y0 + y)[interior.x0 + x] =
            weighted_mean<T>(window_sum(tile, column, row), kTaps * kTaps);
      });
}

// One thread per pixel of the border.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void border_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                  FrameType shape, Interior interior) {
  const std::int64_t pixels = shape.pixels() - interior.pixels();
  for (std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; index < pixels;
       index += std::int64_t{gridDim.x} * blockDim.x) {
    std::int64_t x = 0;
    std::int64_t y = 0;
    border_pixel(index, shape, interior, x, y);
    out.row(y)[x] = checked_mean<T>(in, x, y);
  }
}

// Returns an area of whole tiles, starting at the first pixel with a whole window.
Interior tiled_interior(const FrameType& shape, std::int64_t tile_rows) {
  const std::int64_t columns =
      shape.width <= 2 * kRadius ? 0 : (shape.width - 2 * kRadius) / kLabTileColumns * kLabTileColumns;
  const std::int64_t rows =
      shape.height <= 2 * kRadius ? 0 : (shape.height - 2 * kRadius) / tile_rows * tile_rows;
  if (columns == 0 || rows == 0) return {0, 0, shape.height, shape.height};
  return {kRadius, kRadius + columns, kRadius, kRadius + rows};
}

// ---- sums along rows, then down columns ---------------------------------------------------------------

constexpr int kRun = kVectorPixels;  // columns per thread; row stride of the sums is a multiple of it

IMGPIPE_HOST_DEVICE constexpr std::int64_t sums_stride(std::int64_t width) {
  return (width + kRun - 1) / kRun * kRun;
}

// A thread handles 16 neighbouring pixels and reads 4 on either side: each sum is the previous one, plus the
// pixel that enters, minus the pixel that leaves.
__global__ __launch_bounds__(kMaxBlockThreads) void row_sums_kernel(Source in, std::uint16_t* sums) {
  for (auto at = grid_stride<kRun>(in); at.inside(); at.next()) {
    const Sample8* from = in.row(at.y()) + at.x();
    const uint4 own = load_vector(from);
    const std::uint32_t words[6] = {at.x() > 0 ? load_word(from - 4) : 0,         own.x, own.y, own.z, own.w,
                                    at.left() > kRun ? load_word(from + kRun) : 0};
    // pixel(k) is column x + k; columns beyond the image are 0.
    const auto pixel = [&](int k) { return k < at.left() ? byte_of(words, k + 4) : 0U; };
    std::uint32_t sum = pixel(-2) + pixel(-1) + pixel(0) + pixel(1);
    std::uint32_t packed[kRun / 2];
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      sum += pixel(k + kRadius);
      packed[k / 2] = k % 2 == 0 ? sum : packed[k / 2] | sum << 16;
      sum -= pixel(k - kRadius);
    }
    auto* to = reinterpret_cast<uint4*>(sums + at.y() * sums_stride(in.width) + at.x());
    to[0] = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    to[1] = make_uint4(packed[4], packed[5], packed[6], packed[7]);
  }
}

// A thread walks down 4 columns of a strip of rows: each sum is the one above, plus the row that enters,
// minus the row that leaves. A word holds two sums: 25 * 255 < 2^16.
constexpr std::int64_t kStripRows = 64;
__global__ __launch_bounds__(kMaxBlockThreads) void column_sums_kernel(const std::uint16_t* sums,
                                                                       Target out) {
  const std::int64_t stride = sums_stride(out.width);
  const auto groups = static_cast<std::uint64_t>((out.width + 3) / 4);
  const auto row_of = [&](std::int64_t y, std::int64_t x) {
    return __ldg(reinterpret_cast<const uint2*>(sums + y * stride + x));
  };
  for (std::uint64_t item = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;;
       item += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::int64_t x = static_cast<std::int64_t>(item % groups) * 4;
    const std::int64_t top = static_cast<std::int64_t>(item / groups) * kStripRows;
    if (top >= out.height) return;
    const std::int64_t bottom = min(top + kStripRows, out.height);
    uint2 sum = make_uint2(0, 0);
    const auto add = [&](const uint2& row) { sum = make_uint2(sum.x + row.x, sum.y + row.y); };
    for (std::int64_t y = max(top - kRadius, std::int64_t{0}); y < min(top + kRadius, out.height); ++y)
      add(row_of(y, x));
    std::uint32_t across[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) across[k] = taps_inside(min(x + k, out.width - 1), out.width);
    for (std::int64_t y = top; y < bottom; ++y) {
      if (y + kRadius < out.height) add(row_of(y + kRadius, x));
      const std::uint32_t down = taps_inside(y, out.height);
      const std::uint32_t mean[4] = {
          weighted_mean(sum.x & 0xFFFF, across[0] * down), weighted_mean(sum.x >> 16, across[1] * down),
          weighted_mean(sum.y & 0xFFFF, across[2] * down), weighted_mean(sum.y >> 16, across[3] * down)};
      store_word(out.row(y) + x, mean[0] | mean[1] << 8 | mean[2] << 16 | mean[3] << 24, out.width - x);
      if (y >= kRadius) {
        const uint2 gone = row_of(y - kRadius, x);
        sum = make_uint2(sum.x - gone.x, sum.y - gone.y);
      }
    }
  }
}

template <class T>
CudaStatus launch_specialised(const StageCall<Device>& call, const VariantLaunch& launch) {
  const LaunchGrid grid = striding(launch);
  const Interior interior = tiled_interior(call.in.type, grid.threads / kLabTileColumns);
  if (interior.pixels() > 0) {
    const CudaStatus status = launch_pixels(interior_kernel<T>, grid, call, launch, interior);
    if (status != cudaSuccess) return status;
  }
  return launch_pixels(border_kernel<T>, grid, call, launch, call.in.type, interior);
}

}  // namespace

CudaStatus smooth_naive(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(naive_kernel<T>, covering(call, launch), call, launch);
  });
}

CudaStatus smooth_tile(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(tile_kernel<T>, striding(launch), call, launch);
  });
}

CudaStatus smooth_specialised(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_specialised<T>(call, launch); });
}

std::size_t smooth_separable_bytes(const FrameType& shape, const VariantLaunch&) {
  return static_cast<std::size_t>(sums_stride(shape.width) * shape.height) * sizeof(std::uint16_t);
}

CudaStatus smooth_separable(const StageCall<Device>& call, const VariantLaunch& launch) {
  auto* sums = static_cast<std::uint16_t*>(launch.scratch);
  const unsigned block = block_of(launch, kBlock);
  const unsigned blocks = striding_blocks(launch, kResident);
  row_sums_kernel<<<blocks, block, 0, launch.stream>>>(call.in.plane<Sample8>(0), sums);
  column_sums_kernel<<<blocks, block, 0, launch.stream>>>(sums, call.out.plane<Sample8>(0));
  return cudaGetLastError();
}

}  // namespace imgpipe
