// Smoothing by sums in registers.
//
// A thread owns 8 adjacent columns of a strip of rows and walks down it. For every row it makes 8 horizontal
// sums of five taps by two byte dot products each (they run beside the pipe that shuffles and adds), keeps
// those of the last five rows, two to a register, and adds them up vertically. No shared memory, no barrier.
// Memory is read once but for the 4 rows that neighbouring strips share, which the L2 cache holds.
//
// H200, 2026-11-20, 8773x5352, box, us, with 25 loads under branches for each border pixel: 36.7 this; 40.3
// sums one to a register; 37.7 sums by packed additions, loads in bursts of five rows; 43.5 the box's
// vertical sum running along (its four registers cost a block a multiprocessor). Border loads without
// branches: 34.1; strips of 55 rows instead of 60: 33.8 (20: 34.9, 40: 41, the last wave being short of
// work), fused 43.5 (20: 47.4). The border before the interior: 36.2.
#include <algorithm>
#include <type_traits>

#include "kernels/contrast/stretch_block.cuh"
#include "kernels/smooth/border_taps.cuh"
#include "kernels/smooth/interior.cuh"
#include "kernels/smooth/smooth.h"

namespace imgpipe {
namespace {

constexpr int kColumns = 8;     // a thread's
constexpr int kStripRows = 55;  // a multiple of kTaps: the five rows rotate through registers
// Warps of a block and blocks of a multiprocessor: what the registers allow. The stretch is made by kBins
// threads.
template <bool Stretched>
struct Block {
  static constexpr int kWarps = 8;
  static constexpr int kThreads = kWarps * kWarpLanes;
  static constexpr int kResident = 4;
};
static_assert(Block<true>::kThreads >= kBins);
static_assert(kStripRows % kTaps == 0);

// The pixels whose window lies inside and whose neighbours a thread may load in aligned words: columns
// x0..x1-1 in whole groups of 8, rows y0..y1-1. All others are the border's.
Interior interior_of(const FrameType& shape) {
  // From column 8 to at least 2 before the end.
  const std::int64_t groups = (shape.width - kRadius) / kColumns - 1;
  if (groups < 1 || shape.height <= 2 * kRadius) return {0, 0, shape.height, shape.height};
  return {kColumns, kColumns + groups * kColumns, kRadius, shape.height - kRadius};
}

// floor((2S + n) / 2n) = floor((S + n/2) / n) as a product: byte 3 of (S + n/2) * ceil(2^24 / n). Exact,
// since (S + n/2) * (ceil(2^24 / n) * n - 2^24) < 2^24 for the three windows: 57483, 1469345 and 0.
template <Window W>
struct FullWindow {
  static constexpr std::uint32_t kSum = W == Window::box ? 25 : W == Window::triangle ? 81 : 256;
  static constexpr std::uint32_t kRound = kSum / 2;
  static constexpr std::uint32_t kFactor = ((1U << 24) + kSum - 1) / kSum;
  static constexpr std::uint32_t kMost = kSum * kMaxSample + kRound;
  static_assert(std::uint64_t{kMost} * kFactor < (std::uint64_t{1} << 32));
  static_assert(std::uint64_t{kMost} * (std::uint64_t{kFactor} * kSum - (1U << 24)) < (1U << 24));
};

// The horizontal sums of a thread's 8 columns in one row, two to a register: column 2i in the low half of
// pair i. A sum, also of five rows, is at most 256 * 255 < 2^16, so the halves never meet.
constexpr int kPairs = kColumns / 2;
struct Sums {
  std::uint32_t pair[kPairs];
};

template <Window W>
__device__ __forceinline__ std::uint32_t vertical_sum(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                      std::uint32_t d, std::uint32_t e) {
  if (W == Window::triangle) return (a + e) + 2 * (b + d) + 3 * c;
  if (W == Window::gauss) return (a + e) + 4 * (b + d) + 6 * c;
  return a + b + c + d + e;
}

// Bytes at-4..at+11 around 8 columns.
struct RawRow {
  std::uint32_t left;
  uint2 middle;
  std::uint32_t right;
};

__device__ __forceinline__ RawRow load_row(const Sample* at) {
  return {__ldg(reinterpret_cast<const std::uint32_t*>(at - 4)), __ldg(reinterpret_cast<const uint2*>(at)),
          __ldg(reinterpret_cast<const std::uint32_t*>(at + kColumns))};
}

// The horizontal sums of 8 columns.
template <Window W>
__device__ __forceinline__ Sums horizontal_sums(const RawRow& raw) {
  // The first four taps as a word, and the fifth where the next word has it.
  constexpr std::uint32_t kFour = W == Window::box        ? 0x01010101
                                  : W == Window::triangle ? 0x02030201
                                                          : 0x04060401;
  constexpr std::uint32_t kFifth = 0x01000000;
  const std::uint32_t x = raw.middle.x;
  const std::uint32_t y = raw.middle.y;
  // Word k: the four bytes from column k - 2 on.
  const std::uint32_t words[kColumns + 1] = {__byte_perm(raw.left, x, 0x5432),
                                             __byte_perm(raw.left, x, 0x6543),
                                             x,
                                             __byte_perm(x, y, 0x4321),
                                             __byte_perm(x, y, 0x5432),
                                             __byte_perm(x, y, 0x6543),
                                             y,
                                             __byte_perm(y, raw.right, 0x4321),
                                             __byte_perm(y, raw.right, 0x5432)};
  Sums sums;
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t high = __dp4a(words[2 * i + 1], kFour, __dp4a(words[2 * i + 2], kFifth, 0U));
    sums.pair[i] = __dp4a(words[2 * i], kFour, __dp4a(words[2 * i + 1], kFifth, high << 16));
  }
  return sums;
}

// Takes the sums of a new row in the place of the oldest of five, rows[newest], and gives 8 means, packed.
template <Window W>
__device__ __forceinline__ uint2 next_means(Sums (&rows)[kTaps], int newest, const Sums& fresh) {
  rows[newest] = fresh;
  std::uint32_t means[kColumns];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t sum = vertical_sum<W>(
        rows[(newest + 1) % kTaps].pair[i], rows[(newest + 2) % kTaps].pair[i],
        rows[(newest + 3) % kTaps].pair[i], rows[(newest + 4) % kTaps].pair[i], rows[newest].pair[i]);
    // The mean in byte 3.
    means[2 * i] = (sum & 0xFFFF) * FullWindow<W>::kFactor + FullWindow<W>::kRound * FullWindow<W>::kFactor;
    means[2 * i + 1] = (sum >> 16) * FullWindow<W>::kFactor + FullWindow<W>::kRound * FullWindow<W>::kFactor;
  }
  return make_uint2(pack_bytes<3>(means[0], means[1], means[2], means[3]),
                    pack_bytes<3>(means[4], means[5], means[6], means[7]));
}

// Plain: every lane loads what it needs. Stretched: a lane stretches its own 8 columns and takes its
// neighbours' from them, so that the first and the last lane of a warp only give. (Rejected for plain: 44
// against 37 us.)
template <bool Stretched>
__device__ __forceinline__ RawRow load_own(const Sample* at) {
  if (Stretched) return {0, __ldg(reinterpret_cast<const uint2*>(at)), 0};
  return load_row(at);
}

template <bool Stretched, class BlockStretch>
__device__ __forceinline__ RawRow completed(RawRow raw, const BlockStretch& factor) {
  if (!Stretched) return raw;
  raw.middle.x = stretch_word(raw.middle.x, factor);
  raw.middle.y = stretch_word(raw.middle.y, factor);
  raw.left = __shfl_up_sync(0xFFFFFFFF, raw.middle.y, 1);
  raw.right = __shfl_down_sync(0xFFFFFFFF, raw.middle.x, 1);
  return raw;
}

// The stretch of a strip: in floats where that is faster. H200, 2026-11-22, contrast + smooth of 8773x5352 in
// the engine, us, for box | triangle | gauss: 42.4 | 44.4 | 42.8 in floats, 44.0 | 44.0 | 42.1 in integers.
template <Window W>
using StripStretch = std::conditional_t<W == Window::box, FloatStretch, StretchFactor>;
__device__ __forceinline__ void take_factor(FloatStretch& stretch, const StretchFactor& factor) {
  stretch = float_stretch(factor);
}
__device__ __forceinline__ void take_factor(StretchFactor& stretch, const StretchFactor& factor) {
  stretch = factor;
}

// One strip of `strip_rows` rows, a multiple of five. No bounds check on any load: see interior_of(). All
// lanes of a warp come here together; those that are not `active` write nothing.
template <Window W, bool Stretched>
__device__ __forceinline__ void smooth_interior(const Plane<const Sample, Device>& from,
                                                const Plane<Sample, Device>& to, const Interior& interior,
                                                std::int64_t x, bool active, std::int64_t top, int strip_rows,
                                                const StripStretch<W>& factor) {
  const std::int64_t bottom = min(top + strip_rows, interior.y1);
  const Sample* row = from.row(top - kRadius) + x;
  Sample* target = to.row(top) + x;
  Sums rows[kTaps];
  RawRow raw[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i, row += from.stride) raw[i] = load_own<Stretched>(row);
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i) rows[i] = horizontal_sums<W>(completed<Stretched>(raw[i], factor));
    // Row y + 2 completes output row y. Five rows are on their way at any time: the next is asked for as soon
    // as one is used.
#pragma unroll
  for (int i = 0; i < kTaps; ++i, row += from.stride) {
    if (top + i < bottom) raw[i] = load_own<Stretched>(row);
  }
  for (std::int64_t y = top; y < bottom; y += kTaps) {
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      if (y + i >= bottom) break;
      const Sums fresh = horizontal_sums<W>(completed<Stretched>(raw[i], factor));
      if (y + i + kTaps < bottom) raw[i] = load_own<Stretched>(row);
      const uint2 means = next_means<W>(rows, (i + kTaps - 1) % kTaps, fresh);
      if (active) *reinterpret_cast<uint2*>(target) = means;
      row += from.stride;
      target += to.stride;
    }
  }
}

// One pixel, every coordinate checked. Sides are below 2^31.
template <Window W, bool Stretched>
__device__ __forceinline__ void smooth_border(const Plane<const Sample, Device>& from,
                                              const Plane<Sample, Device>& to, std::int64_t x, std::int64_t y,
                                              Border border, const StretchFactor& factor) {
  const BorderTaps<W> across(static_cast<int>(x), static_cast<int>(from.width), border);
  const BorderTaps<W> down(static_cast<int>(y), static_cast<int>(from.height), border);
  std::uint32_t sum = 0;
  std::uint32_t across_weights = 0;
  std::uint32_t down_weights = 0;
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const Sample* row = from.row(down.at[j]);
    std::uint32_t row_sum = 0;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      const int value = __ldg(row + across.at[i]);
      row_sum += across.weight[i] *
                 (Stretched ? stretch_product(factor, value) >> 24 : static_cast<std::uint32_t>(value));
    }
    sum += down.weight[j] * row_sum;
    across_weights += across.weight[j];
    down_weights += down.weight[j];
  }
  to.row(y)[x] = weighted_mean(sum, across_weights * down_weights);
}

// How a grid is shared out: first the interior, a warp a strip, neighbouring warps side by side, so that a
// row is read in long runs; then the border, a thread a pixel, in the blocks that the last strips leave free.
// One launch for both: a second one would cost more than the border itself.
struct Work {
  Interior interior;
  unsigned interior_blocks;
  unsigned border_blocks;
  unsigned column_warps;  // that lie side by side
  int strip_rows;
  std::int64_t border_pixels;
};

// Plane blockIdx.z.
template <Window W, bool Stretched>
__global__ __launch_bounds__(
    Block<Stretched>::kThreads,
    fitting_blocks(Block<Stretched>::kThreads,
                   Block<Stretched>::kResident)) void smooth_kernel(DevicePlanes<const Sample> in,
                                                                    DevicePlanes<Sample> out, FrameType shape,
                                                                    Work work, Histogram<Device> histogram,
                                                                    ContrastParameters stretch,
                                                                    Border border) {
  const Plane<const Sample, Device> from = plane_of_block(in);
  const Plane<Sample, Device> to = plane_of_block(out);
  StretchFactor factor{};
  if (Stretched) factor = block_stretch_factor(histogram, stretch, static_cast<int>(blockIdx.z));
  if (blockIdx.x >= work.interior_blocks) {
    for (std::int64_t index =
             (blockIdx.x - work.interior_blocks) * std::int64_t{Block<Stretched>::kThreads} + threadIdx.x;
         index < work.border_pixels; index += work.border_blocks * std::int64_t{Block<Stretched>::kThreads}) {
      std::int64_t x = 0;
      std::int64_t y = 0;
      border_pixel(index, shape, work.interior, x, y);
      smooth_border<W, Stretched>(from, to, x, y, border, factor);
    }
    return;
  }
  constexpr int kLanes = Stretched ? kWarpLanes - 2 : kWarpLanes;  // that write
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes) - (Stretched ? 1 : 0);
  const unsigned warp = blockIdx.x * Block<Stretched>::kWarps + threadIdx.x / kWarpLanes;
  const unsigned strip = warp / work.column_warps;
  std::int64_t x = work.interior.x0 + (warp - strip * work.column_warps) * std::int64_t{kLanes * kColumns} +
                   lane * kColumns;
  const std::int64_t top = work.interior.y0 + strip * std::int64_t{work.strip_rows};
  if (top >= work.interior.y1) return;  // whole warps
  const bool active = lane >= 0 && lane < kLanes && x < work.interior.x1;
  // Lanes beyond the interior's neighbour column group read that group: it is inside the row's padded length.
  if (x > work.interior.x1) x = work.interior.x1;
  if (!Stretched && !active) return;
  StripStretch<W> strip_stretch{};
  if (Stretched) take_factor(strip_stretch, factor);
  smooth_interior<W, Stretched>(from, to, work.interior, x, active, top, work.strip_rows, strip_stretch);
}

template <bool Stretched>
Work share_out(const CudaLaunch& launch, const FrameType& shape) {
  Work work{interior_of(shape), 0, 0, 1, kStripRows, 0};
  const std::int64_t columns = work.interior.x1 - work.interior.x0;
  const std::int64_t rows = work.interior.y1 - work.interior.y0;
  const std::int64_t resident_blocks = std::int64_t{launch.multiprocessors} * Block<Stretched>::kResident;
  work.border_pixels = shape.pixels() - work.interior.pixels();
  const std::int64_t border_blocks =
      (work.border_pixels + Block<Stretched>::kThreads - 1) / Block<Stretched>::kThreads;
  work.border_blocks = static_cast<unsigned>(std::min(border_blocks, resident_blocks));
  if (columns == 0) return work;
  constexpr std::int64_t kWarpColumns = (Stretched ? kWarpLanes - 2 : kWarpLanes) * kColumns;
  work.column_warps = static_cast<unsigned>((columns + kWarpColumns - 1) / kWarpColumns);
  // Strips as long as kStripRows, shorter where that would leave multiprocessors without work.
  const std::int64_t rows_each = (rows * work.column_warps + resident_blocks * Block<Stretched>::kWarps - 1) /
                                 (resident_blocks * Block<Stretched>::kWarps);
  work.strip_rows =
      static_cast<int>(std::min<std::int64_t>((rows_each + kTaps - 1) / kTaps * kTaps, kStripRows));
  const std::int64_t strips = (rows + work.strip_rows - 1) / work.strip_rows;
  work.interior_blocks = static_cast<unsigned>((strips * work.column_warps + Block<Stretched>::kWarps - 1) /
                                               Block<Stretched>::kWarps);
  return work;
}

// `stretch`: of a contrast before it, if Stretched.
template <Window W, bool Stretched>
CudaStatus launch_smooth(const StageCall<Device>& call, Border border, const ContrastParameters& stretch,
                         const CudaLaunch& launch) {
  const FrameType& shape = call.in.type;
  const DevicePlanes<const Sample> in{
      {call.in.plane<Sample>(0), call.in.plane<Sample>(1), call.in.plane<Sample>(2)}};
  const DevicePlanes<Sample> out{
      {call.out.plane<Sample>(0), call.out.plane<Sample>(1), call.out.plane<Sample>(2)}};
  const Work work = share_out<Stretched>(launch, shape);
  const dim3 grid(work.interior_blocks + work.border_blocks, 1, static_cast<unsigned>(shape.color_channels));
  smooth_kernel<W, Stretched><<<grid, Block<Stretched>::kThreads, 0, launch.stream>>>(
      in, out, shape, work, call.histogram, stretch, border);
  return cudaGetLastError();
}

template <bool Stretched>
CudaStatus launch_window(const StageCall<Device>& call, const SmoothParameters& smooth,
                         const ContrastParameters& stretch, const CudaLaunch& launch) {
  switch (smooth.window) {
    case Window::triangle:
      return launch_smooth<Window::triangle, Stretched>(call, smooth.border, stretch, launch);
    case Window::gauss:
      return launch_smooth<Window::gauss, Stretched>(call, smooth.border, stretch, launch);
    case Window::box:
      break;
  }
  return launch_smooth<Window::box, Stretched>(call, smooth.border, stretch, launch);
}

}  // namespace

CudaStatus smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_window<false>(call, SmoothParameters(call.parameters), ContrastParameters({}), launch);
}

CudaStatus contrast_smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_window<true>(call, SmoothParameters(call.second), ContrastParameters(call.parameters),
                             launch);
}

}  // namespace imgpipe
