// Distributes smoothing over a CUDA device, for all sample types: strips of the interior, and border pixels.
//
// A thread owns adjacent columns of a strip of rows and walks down it. For every row it computes the
// horizontal sums of its columns, keeps those of the last five rows in registers, and adds them vertically.
// No shared memory, no barrier. Memory is read once except for the 4 rows that adjacent strips share, which
// the L2 cache holds.
#pragma once

#include <algorithm>

#include "kernels/shared/device_rows.cuh"
#include "kernels/smooth/border_taps.cuh"
#include "kernels/smooth/interior.cuh"
#include "kernels/smooth/smooth.h"

namespace imgpipe {

constexpr int kStripRows = 55;  // a multiple of kTaps: the five rows rotate through registers
// Warps per block and blocks per multiprocessor, limited by registers.
constexpr int kStripWarps = 8;
constexpr int kStripThreads = kStripWarps * kWarpLanes;
constexpr int kStripBlocks = 4;
static_assert(kStripRows % kTaps == 0);

// Returns the pixels whose window lies inside and whose neighbours a thread may load in aligned words:
// columns x0..x1-1 in whole groups of Columns, rows y0..y1-1. All others belong to the border.
template <int Columns>
Interior interior_of(const FrameType& shape) {
  // From the second group to at least 2 columns before the end.
  const std::int64_t groups = (shape.width - kRadius) / Columns - 1;
  if (groups < 1 || shape.height <= 2 * kRadius) return {0, 0, shape.height, shape.height};
  return {Columns, Columns + groups * Columns, kRadius, shape.height - kRadius};
}

template <Window W>
__device__ __forceinline__ std::uint32_t vertical_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                      std::uint32_t d, std::uint32_t e) {
  if (W == Window::triangle) return (a + e) + 2 * (b + d) + 3 * c;
  if (W == Window::gauss) return (a + e) + 4 * (b + d) + 6 * c;
  return a + b + c + d + e;
}

// The words before, containing, and after a thread's columns.
struct RawRow {
  std::uint32_t left;
  uint2 middle;
  std::uint32_t right;
};
template <class T>
__device__ __forceinline__ RawRow load_row(const T* at) {
  constexpr int kWord = 4 / sizeof(T);  // samples
  return {__ldg(reinterpret_cast<const std::uint32_t*>(at - kWord)),
          __ldg(reinterpret_cast<const uint2*>(at)),
          __ldg(reinterpret_cast<const std::uint32_t*>(at + 2 * kWord))};
}

// Returns the vertical sum of column or pair `i` over five rows of sums, the last of which is rows[newest].
template <Window W, int Count>
__device__ __forceinline__ std::uint32_t sum_of_rows(const std::uint32_t (&rows)[kTaps][Count], int newest,
                                                     int i) {
  return vertical_sum<W>(rows[(newest + 1) % kTaps][i], rows[(newest + 2) % kTaps][i],
                         rows[(newest + 3) % kTaps][i], rows[(newest + 4) % kTaps][i], rows[newest][i]);
}

// Processes a strip of `strip_rows` rows, a multiple of five, with load(row), sum(raw, sums) and means(rows,
// newest). Loads need no bounds checks: see interior_of(). Threads that are not `active` write nothing.
template <int Count, class T, class Load, class Sum, class Means>
__device__ __forceinline__ void smooth_strip(const Plane<const T, Device>& from, const Plane<T, Device>& to,
                                             const Interior& interior, std::int64_t x, bool active,
                                             std::int64_t top, int strip_rows, const Load& load,
                                             const Sum& sum, const Means& means) {
  const std::int64_t bottom = min(top + strip_rows, interior.y1);
  const T* row = from.row(top - kRadius) + x;
  T* target = to.row(top) + x;
  std::uint32_t rows[kTaps][Count];
  RawRow raw[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i, row += from.stride) raw[i] = load(row);
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i) sum(raw[i], rows[i]);
    // Row y + 2 completes output row y. Five rows are always in flight: buffers are refilled after use.
#pragma unroll
  for (int i = 0; i < kTaps; ++i, row += from.stride) {
    if (top + i < bottom) raw[i] = load(row);
  }
  for (std::int64_t y = top; y < bottom; y += kTaps) {
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      if (y + i >= bottom) break;
      constexpr int kBehind = kTaps - 1;
      const int newest = (i + kBehind) % kTaps;
      std::uint32_t fresh[Count];
      sum(raw[i], fresh);
      if (y + i + kTaps < bottom) raw[i] = load(row);
#pragma unroll
      for (int k = 0; k < Count; ++k) rows[newest][k] = fresh[k];
      const uint2 packed = means(rows, newest);
      if (active) *reinterpret_cast<uint2*>(target) = packed;
      row += from.stride;
      target += to.stride;
    }
  }
}

// Computes one pixel with all coordinates checked; value(v) maps each sample. Sides are below 2^31.
template <Window W, class T, class Value>
__device__ __forceinline__ void smooth_border(const Plane<const T, Device>& from, const Plane<T, Device>& to,
                                              std::int64_t x, std::int64_t y, Border border,
                                              const Value& value) {
  const BorderTaps<W> across(static_cast<int>(x), static_cast<int>(from.width), border);
  const BorderTaps<W> down(static_cast<int>(y), static_cast<int>(from.height), border);
  std::uint32_t sum = 0;
  std::uint32_t across_weights = 0;
  std::uint32_t down_weights = 0;
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const T* row = from.row(down.at[j]);
    std::uint32_t row_sum = 0;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) row_sum += across.weight[i] * value(__ldg(row + across.at[i]));
    sum += down.weight[j] * row_sum;
    across_weights += across.weight[j];
    down_weights += down.weight[j];
  }
  to.row(y)[x] = weighted_mean<T>(sum, across_weights * down_weights);
}

// The distribution of a grid: first the interior, a warp per strip, adjacent warps side by side, so that rows
// are read in long runs; then the border, a thread per pixel, in the blocks that the last strips leave free.
// One launch for both, as a second one would cost more than the border itself.
struct StripWork {
  Interior interior;
  unsigned interior_blocks;
  unsigned border_blocks;
  unsigned column_warps;  // side by side
  int strip_rows;
  std::int64_t border_pixels;
};

// The number of lanes per warp whose columns are written; the others only supply columns.
template <bool Giving>
inline constexpr int kWritingLanes = Giving ? kWarpLanes - 2 : kWarpLanes;

template <int Columns, bool Giving>
StripWork share_out(const CudaLaunch& launch, const FrameType& shape) {
  StripWork work{interior_of<Columns>(shape), 0, 0, 1, kStripRows, 0};
  const std::int64_t columns = work.interior.x1 - work.interior.x0;
  const std::int64_t rows = work.interior.y1 - work.interior.y0;
  const std::int64_t resident_blocks = std::int64_t{launch.multiprocessors} * kStripBlocks;
  work.border_pixels = shape.pixels() - work.interior.pixels();
  const std::int64_t border_blocks = (work.border_pixels + kStripThreads - 1) / kStripThreads;
  work.border_blocks = static_cast<unsigned>(std::min(border_blocks, resident_blocks));
  if (columns == 0) return work;
  constexpr std::int64_t kWarpColumns = kWritingLanes<Giving> * Columns;
  work.column_warps = static_cast<unsigned>((columns + kWarpColumns - 1) / kWarpColumns);
  // Strips have kStripRows rows, fewer if some multiprocessors would otherwise be idle.
  const std::int64_t rows_each =
      (rows * work.column_warps + resident_blocks * kStripWarps - 1) / (resident_blocks * kStripWarps);
  work.strip_rows =
      static_cast<int>(std::min<std::int64_t>((rows_each + kTaps - 1) / kTaps * kTaps, kStripRows));
  const std::int64_t strips = (rows + work.strip_rows - 1) / work.strip_rows;
  work.interior_blocks = static_cast<unsigned>((strips * work.column_warps + kStripWarps - 1) / kStripWarps);
  return work;
}

// Runs this block's share: pixel(x, y) for border pixels, or strip(x, active, top) for columns of a strip.
// Giving: the first and the last lane of a warp only supply their columns to the others; all lanes call
// strip() together, each with an x at which loading is valid.
template <int Columns, bool Giving, class Strip, class Pixel>
__device__ __forceinline__ void share_of_block(const FrameType& shape, const StripWork& work,
                                               const Strip& strip, const Pixel& pixel) {
  if (blockIdx.x >= work.interior_blocks) {
    for (std::int64_t index = (blockIdx.x - work.interior_blocks) * std::int64_t{kStripThreads} + threadIdx.x;
         index < work.border_pixels; index += work.border_blocks * std::int64_t{kStripThreads}) {
      std::int64_t x = 0;
      std::int64_t y = 0;
      border_pixel(index, shape, work.interior, x, y);
      pixel(x, y);
    }
    return;
  }
  constexpr int kLanes = kWritingLanes<Giving>;
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes) - (Giving ? 1 : 0);
  const unsigned warp = blockIdx.x * kStripWarps + threadIdx.x / kWarpLanes;
  const unsigned number = warp / work.column_warps;
  std::int64_t x = work.interior.x0 + (warp - number * work.column_warps) * std::int64_t{kLanes * Columns} +
                   lane * Columns;
  const std::int64_t top = work.interior.y0 + number * std::int64_t{work.strip_rows};
  if (top >= work.interior.y1) return;  // uniform within a warp
  const bool active = lane >= 0 && lane < kLanes && x < work.interior.x1;
  // Lanes to the right of the group after the interior load that group: the row's padding contains it.
  if (x > work.interior.x1) x = work.interior.x1;
  if (!Giving && !active) return;
  strip(x, active, top);
}

// Calls launch(std::integral_constant<Window, ...>()) for the window.
template <class Launch>
CudaStatus with_window(Window window, const Launch& launch) {
  switch (window) {
    case Window::triangle:
      return launch(std::integral_constant<Window, Window::triangle>());
    case Window::gauss:
      return launch(std::integral_constant<Window, Window::gauss>());
    case Window::box:
      break;
  }
  return launch(std::integral_constant<Window, Window::box>());
}

}  // namespace imgpipe
