// Smoothing of 16-bit samples, as cuda.cu does it for 8: a thread owns adjacent columns of a strip of rows
// and walks down it, its sums in registers; no shared memory, no barrier.
//
// Here it owns 4 columns, so that a row is the same bytes a thread, and a sum takes a register: up to
// 256 * 65535 < 2^24. Horizontal sums are products of two samples and two weights at a time.
#include <algorithm>

#include "kernels/device_rows.cuh"
#include "kernels/smooth/border_taps.cuh"
#include "kernels/smooth/interior.cuh"
#include "kernels/smooth/smooth.h"

namespace imgpipe {
namespace {

constexpr int kColumns = 4;     // a thread's
constexpr int kStripRows = 55;  // a multiple of kTaps: the five rows rotate through registers
constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarpLanes;
constexpr int kResident = 4;  // blocks a multiprocessor
static_assert(kStripRows % kTaps == 0);

// The pixels whose window lies inside and whose neighbours a thread may load in aligned words: columns
// x0..x1-1 in whole groups of 4, rows y0..y1-1. All others are the border's.
Interior interior_of(const FrameType& shape) {
  // From column 4 to at least 2 before the end.
  const std::int64_t groups = (shape.width - kRadius) / kColumns - 1;
  if (groups < 1 || shape.height <= 2 * kRadius) return {0, 0, shape.height, shape.height};
  return {kColumns, kColumns + groups * kColumns, kRadius, shape.height - kRadius};
}

// floor((2S + n) / 2n) = floor((S + n/2) / n) as the upper word of (S + n/2) * ceil(2^32 / n): exact, since
// (S + n/2) * (ceil(2^32 / n) * n - 2^32) < 2^32. Of 256 it is a shift.
template <Window W>
struct FullWindow {
  static constexpr std::uint32_t kSum = W == Window::box ? 25 : W == Window::triangle ? 81 : 256;
  static constexpr std::uint32_t kRound = kSum / 2;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  static constexpr auto kFactor = static_cast<std::uint32_t>((kOne + kSum - 1) / kSum);
  static constexpr std::uint64_t kMost = std::uint64_t{kSum} * kLargest<Sample16> + kRound;
  static_assert(kMost < (1U << 24));
  static_assert(kMost * (std::uint64_t{kFactor} * kSum - kOne) < kOne);

  __device__ static std::uint32_t mean(std::uint32_t sum) { return __umulhi(sum + kRound, kFactor); }
};

// The sums of a thread's columns in one row.
struct Sums {
  std::uint32_t column[kColumns];
};

template <Window W>
__device__ __forceinline__ std::uint32_t vertical_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                      std::uint32_t d, std::uint32_t e) {
  if (W == Window::triangle) return (a + e) + 2 * (b + d) + 3 * c;
  if (W == Window::gauss) return (a + e) + 4 * (b + d) + 6 * c;
  return a + b + c + d + e;
}

// Samples at-2..at+5 around 4 columns, two to a word.
struct RawRow {
  std::uint32_t left;
  uint2 middle;
  std::uint32_t right;
};

__device__ __forceinline__ RawRow load_row(const Sample16* at) {
  return {__ldg(reinterpret_cast<const std::uint32_t*>(at - kRadius)),
          __ldg(reinterpret_cast<const uint2*>(at)),
          __ldg(reinterpret_cast<const std::uint32_t*>(at + kColumns))};
}

// Three words around a column of even number, or, behind it, of odd number:
//   words    -2 -1 | 0 1 | 2 3
//   even      a  b   c b   a        taps a b c b a
//   odd          a   b c   b a
template <Window W>
__device__ __forceinline__ Sums horizontal_sums(const RawRow& raw) {
  constexpr std::uint32_t kInner = W == Window::box ? 1 : W == Window::triangle ? 2 : 4;
  constexpr std::uint32_t kMiddle = W == Window::box ? 1 : W == Window::triangle ? 3 : 6;
  constexpr std::uint32_t kOuterInner = 1 | kInner << 8;
  constexpr std::uint32_t kMiddleInner = kMiddle | kInner << 8;
  constexpr std::uint32_t kOuterNone = 1;
  constexpr std::uint32_t kNoneOuter = 1 << 8;
  constexpr std::uint32_t kInnerMiddle = kInner | kMiddle << 8;
  constexpr std::uint32_t kInnerOuter = kInner | 1 << 8;
  const std::uint32_t words[4] = {raw.left, raw.middle.x, raw.middle.y, raw.right};
  Sums sums;
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) {
    sums.column[2 * i] =
        __dp2a_lo(words[i], kOuterInner,
                  __dp2a_lo(words[i + 1], kMiddleInner, __dp2a_lo(words[i + 2], kOuterNone, 0U)));
    sums.column[2 * i + 1] =
        __dp2a_lo(words[i], kNoneOuter,
                  __dp2a_lo(words[i + 1], kInnerMiddle, __dp2a_lo(words[i + 2], kInnerOuter, 0U)));
  }
  return sums;
}

// Takes the sums of a new row in the place of the oldest of five, rows[newest], and gives 4 means, packed.
template <Window W>
__device__ __forceinline__ uint2 next_means(Sums (&rows)[kTaps], int newest, const Sums& fresh) {
  rows[newest] = fresh;
  std::uint32_t means[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    means[i] = FullWindow<W>::mean(vertical_sum<W>(
        rows[(newest + 1) % kTaps].column[i], rows[(newest + 2) % kTaps].column[i],
        rows[(newest + 3) % kTaps].column[i], rows[(newest + 4) % kTaps].column[i], rows[newest].column[i]));
  }
  return make_uint2(pack_low(means[0], means[1]), pack_low(means[2], means[3]));
}

// One strip of `strip_rows` rows, a multiple of five. No bounds check on any load: see interior_of().
template <Window W>
__device__ __forceinline__ void smooth_interior(const Plane<const Sample16, Device>& from,
                                                const Plane<Sample16, Device>& to, const Interior& interior,
                                                std::int64_t x, std::int64_t top, int strip_rows) {
  const auto count = static_cast<int>(min(std::int64_t{strip_rows}, interior.y1 - top));
  const Sample16* row = from.row(top - kRadius) + x;
  Sample16* target = to.row(top) + x;
  Sums rows[kTaps];
  RawRow raw[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i, row += from.stride) raw[i] = load_row(row);
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i) rows[i] = horizontal_sums<W>(raw[i]);
    // Row y + 2 completes output row y. Five rows are on their way at any time: the next is asked for as soon
    // as one is used.
#pragma unroll
  for (int i = 0; i < kTaps; ++i, row += from.stride) {
    if (i < count) raw[i] = load_row(row);
  }
  for (int y = 0; y < count; y += kTaps) {
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      if (y + i >= count) break;
      const Sums fresh = horizontal_sums<W>(raw[i]);
      if (y + i + kTaps < count) raw[i] = load_row(row);
      *reinterpret_cast<uint2*>(target) = next_means<W>(rows, (i + kTaps - 1) % kTaps, fresh);
      row += from.stride;
      target += to.stride;
    }
  }
}

// One pixel, every coordinate checked. Sides are below 2^31.
template <Window W>
__device__ __forceinline__ void smooth_border(const Plane<const Sample16, Device>& from,
                                              const Plane<Sample16, Device>& to, std::int64_t x,
                                              std::int64_t y, Border border) {
  const BorderTaps<W> across(static_cast<int>(x), static_cast<int>(from.width), border);
  const BorderTaps<W> down(static_cast<int>(y), static_cast<int>(from.height), border);
  std::uint32_t sum = 0;
  std::uint32_t across_weights = 0;
  std::uint32_t down_weights = 0;
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const Sample16* row = from.row(down.at[j]);
    std::uint32_t row_sum = 0;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) row_sum += across.weight[i] * __ldg(row + across.at[i]);
    sum += down.weight[j] * row_sum;
    across_weights += across.weight[j];
    down_weights += down.weight[j];
  }
  to.row(y)[x] = weighted_mean<Sample16>(sum, across_weights * down_weights);
}

// How a grid is shared out, as in cuda.cu: first the interior, a warp a strip, neighbouring warps side by
// side; then the border, a thread a pixel.
struct Work {
  Interior interior;
  unsigned interior_blocks;
  unsigned border_blocks;
  unsigned column_warps;  // that lie side by side
  int strip_rows;
  std::int64_t border_pixels;
};

// Plane blockIdx.z.
template <Window W>
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kResident)) void smooth16_kernel(
    DevicePlanes<const Sample16> in, DevicePlanes<Sample16> out, FrameType shape, Work work, Border border) {
  const Plane<const Sample16, Device> from = plane_of_block(in);
  const Plane<Sample16, Device> to = plane_of_block(out);
  if (blockIdx.x >= work.interior_blocks) {
    for (std::int64_t index = (blockIdx.x - work.interior_blocks) * std::int64_t{kThreads} + threadIdx.x;
         index < work.border_pixels; index += work.border_blocks * std::int64_t{kThreads}) {
      std::int64_t x = 0;
      std::int64_t y = 0;
      border_pixel(index, shape, work.interior, x, y);
      smooth_border<W>(from, to, x, y, border);
    }
    return;
  }
  const unsigned warp = blockIdx.x * kWarps + threadIdx.x / kWarpLanes;
  const unsigned strip = warp / work.column_warps;
  const std::int64_t x = work.interior.x0 +
                         (warp - strip * work.column_warps) * std::int64_t{kWarpLanes * kColumns} +
                         threadIdx.x % kWarpLanes * kColumns;
  const std::int64_t top = work.interior.y0 + strip * std::int64_t{work.strip_rows};
  if (top >= work.interior.y1 || x >= work.interior.x1) return;
  smooth_interior<W>(from, to, work.interior, x, top, work.strip_rows);
}

Work share_out(const CudaLaunch& launch, const FrameType& shape) {
  Work work{interior_of(shape), 0, 0, 1, kStripRows, 0};
  const std::int64_t columns = work.interior.x1 - work.interior.x0;
  const std::int64_t rows = work.interior.y1 - work.interior.y0;
  const std::int64_t resident_blocks = std::int64_t{launch.multiprocessors} * kResident;
  work.border_pixels = shape.pixels() - work.interior.pixels();
  const std::int64_t border_blocks = (work.border_pixels + kThreads - 1) / kThreads;
  work.border_blocks = static_cast<unsigned>(std::min(border_blocks, resident_blocks));
  if (columns == 0) return work;
  constexpr std::int64_t kWarpColumns = kWarpLanes * kColumns;
  work.column_warps = static_cast<unsigned>((columns + kWarpColumns - 1) / kWarpColumns);
  // Strips as long as kStripRows, shorter where that would leave multiprocessors without work.
  const std::int64_t rows_each =
      (rows * work.column_warps + resident_blocks * kWarps - 1) / (resident_blocks * kWarps);
  work.strip_rows =
      static_cast<int>(std::min<std::int64_t>((rows_each + kTaps - 1) / kTaps * kTaps, kStripRows));
  const std::int64_t strips = (rows + work.strip_rows - 1) / work.strip_rows;
  work.interior_blocks = static_cast<unsigned>((strips * work.column_warps + kWarps - 1) / kWarps);
  return work;
}

template <Window W>
CudaStatus launch_smooth(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameType& shape = call.in.type;
  const DevicePlanes<const Sample16> in{
      {call.in.plane<Sample16>(0), call.in.plane<Sample16>(1), call.in.plane<Sample16>(2)}};
  const DevicePlanes<Sample16> out{
      {call.out.plane<Sample16>(0), call.out.plane<Sample16>(1), call.out.plane<Sample16>(2)}};
  const Work work = share_out(launch, shape);
  const dim3 grid(work.interior_blocks + work.border_blocks, 1, static_cast<unsigned>(shape.color_channels));
  smooth16_kernel<W>
      <<<grid, kThreads, 0, launch.stream>>>(in, out, shape, work, SmoothParameters(call.parameters).border);
  return cudaGetLastError();
}

}  // namespace

CudaStatus smooth16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (SmoothParameters(call.parameters).window) {
    case Window::triangle:
      return launch_smooth<Window::triangle>(call, launch);
    case Window::gauss:
      return launch_smooth<Window::gauss>(call, launch);
    case Window::box:
      break;
  }
  return launch_smooth<Window::box>(call, launch);
}

}  // namespace imgpipe
