// Smoothing by running sums in registers.
//
// A thread owns 8 adjacent columns of a strip of rows and walks down it. For every row it makes the 8
// horizontal sums of five taps, two to a 32-bit register (a sum is at most 256 * 255 < 2^16, so the halves
// never meet), keeps those of the last five rows, and adds them up vertically. No shared memory, no barrier.
// Memory is read once but for the 4 rows that neighbouring strips share, which the L2 cache holds.
#include "kernels/contrast/stretch_block.cuh"
#include "kernels/smooth/smooth.h"

namespace imgpipe {
namespace {

constexpr int kColumns = 8;     // a thread's
constexpr int kStripRows = 30;  // a multiple of kTaps: the five rows rotate through registers
constexpr int kBlockWarps = 8;
constexpr int kThreads = kBlockWarps * kWarpLanes;
constexpr int kBlockColumns = kWarpLanes * kColumns;
constexpr int kBorderThreads = 256;
static_assert(kStripRows % kTaps == 0);

// The pixels whose window lies inside and whose neighbours a thread may load in aligned words: columns
// x0..x1-1 in whole groups of 8, rows y0..y1-1. All others are the border kernel's.
struct Interior {
  std::int64_t x0, x1, y0, y1;
};

Interior interior_of(const FrameShape& shape) {
  const std::int64_t groups =
      (shape.width - kRadius) / kColumns - 1;  // from column 8 to at least 2 before the end
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

// Sums of 8 outputs, two a register: (0,2) (1,3) (4,6) (5,7).
struct Sums {
  std::uint32_t pair[4];
};

constexpr std::uint32_t kEvenBytes = 0x00FF00FF;

template <Window W>
__device__ __forceinline__ std::uint32_t five_taps(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                   std::uint32_t d, std::uint32_t e) {
  if (W == Window::triangle) return (a + e) + 2 * (b + d) + 3 * c;
  if (W == Window::gauss) return (a + e) + 4 * (b + d) + 6 * c;
  return a + b + c + d + e;
}

// The horizontal sums of 8 columns at `at` (16-bit halves), from bytes at-4..at+11.
template <Window W, bool Stretched>
__device__ __forceinline__ Sums horizontal_sums(const Sample* at, const StretchFactor& factor) {
  std::uint32_t left = __ldg(reinterpret_cast<const std::uint32_t*>(at - 4));
  uint2 middle = __ldg(reinterpret_cast<const uint2*>(at));
  std::uint32_t right = __ldg(reinterpret_cast<const std::uint32_t*>(at + kColumns));
  if (Stretched) {
    left = stretch_word(left, factor);
    middle.x = stretch_word(middle.x, factor);
    middle.y = stretch_word(middle.y, factor);
    right = stretch_word(right, factor);
  }
  // b0 is the byte at-2: bytes b0..b3, b2..b5, b4..b7, ... in words.
  const std::uint32_t b0 = __byte_perm(left, middle.x, 0x5432);
  const std::uint32_t b2 = middle.x;
  const std::uint32_t b4 = __byte_perm(middle.x, middle.y, 0x5432);
  const std::uint32_t b6 = middle.y;
  const std::uint32_t b8 = __byte_perm(middle.y, right, 0x5432);
  // p[i]: bytes b(i) and b(i+2), one a half.
  const std::uint32_t p[10] = {b0 & kEvenBytes,        (b0 >> 8) & kEvenBytes, b2 & kEvenBytes,
                               (b2 >> 8) & kEvenBytes, b4 & kEvenBytes,        (b4 >> 8) & kEvenBytes,
                               b6 & kEvenBytes,        (b6 >> 8) & kEvenBytes, b8 & kEvenBytes,
                               (b8 >> 8) & kEvenBytes};
  return {{five_taps<W>(p[0], p[1], p[2], p[3], p[4]), five_taps<W>(p[1], p[2], p[3], p[4], p[5]),
           five_taps<W>(p[4], p[5], p[6], p[7], p[8]), five_taps<W>(p[5], p[6], p[7], p[8], p[9])}};
}

// The means of two outputs in the halves of a sum, each in byte 3 of a word.
template <Window W>
__device__ __forceinline__ void means_of(std::uint32_t sum, std::uint32_t& low, std::uint32_t& high) {
  low = ((sum & 0xFFFF) + FullWindow<W>::kRound) * FullWindow<W>::kFactor;
  high = ((sum >> 16) + FullWindow<W>::kRound) * FullWindow<W>::kFactor;
}

template <Window W>
__device__ __forceinline__ uint2 eight_means(const Sums (&rows)[kTaps], int newest) {
  std::uint32_t means[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // rows[newest] is the lowest; the weights are symmetric, so only the distance from the middle counts.
    const std::uint32_t sum = five_taps<W>(
        rows[(newest + 1) % kTaps].pair[i], rows[(newest + 2) % kTaps].pair[i],
        rows[(newest + 3) % kTaps].pair[i], rows[(newest + 4) % kTaps].pair[i], rows[newest].pair[i]);
    const int first = (i / 2) * 4 + i % 2;  // outputs (0,2) (1,3) (4,6) (5,7)
    means_of<W>(sum, means[first], means[first + 2]);
  }
  return make_uint2(pack_bytes<3>(means[0], means[1], means[2], means[3]),
                    pack_bytes<3>(means[4], means[5], means[6], means[7]));
}

// Plane blockIdx.z; a warp covers 256 columns of one strip. No bounds check on any load: see interior_of().
template <Window W, bool Stretched>
__global__ __launch_bounds__(kThreads) void smooth_interior_kernel(DevicePlanes<const Sample> in,
                                                                   DevicePlanes<Sample> out,
                                                                   Interior interior,
                                                                   Histogram<Device> histogram,
                                                                   StageOptions options) {
  const Plane<const Sample, Device> from = plane_of_block(in);
  const Plane<Sample, Device> to = plane_of_block(out);
  StretchFactor factor{};
  if (Stretched) factor = block_stretch_factor(histogram, options, static_cast<int>(blockIdx.z));
  const std::int64_t x =
      interior.x0 + blockIdx.x * std::int64_t{kBlockColumns} + threadIdx.x % kWarpLanes * kColumns;
  if (x >= interior.x1) return;
  const std::int64_t strips = (interior.y1 - interior.y0 + kStripRows - 1) / kStripRows;
  for (std::int64_t strip = blockIdx.y * std::int64_t{kBlockWarps} + threadIdx.x / kWarpLanes; strip < strips;
       strip += gridDim.y * std::int64_t{kBlockWarps}) {
    const std::int64_t top = interior.y0 + strip * kStripRows;
    const std::int64_t bottom = min(top + kStripRows, interior.y1);
    const Sample* row = from.row(top - kRadius) + x;
    Sample* target = to.row(top) + x;
    Sums rows[kTaps];
#pragma unroll
    for (int i = 0; i < kTaps - 1; ++i, row += from.stride)
      rows[i] = horizontal_sums<W, Stretched>(row, factor);
    for (std::int64_t y = top; y < bottom; y += kTaps) {
#pragma unroll
      for (int i = 0; i < kTaps; ++i) {
        if (y + i >= bottom) break;
        const int newest = (i + kTaps - 1) % kTaps;
        rows[newest] = horizontal_sums<W, Stretched>(row, factor);
        *reinterpret_cast<uint2*>(target) = eight_means<W>(rows, newest);
        row += from.stride;
        target += to.stride;
      }
    }
  }
}

// The coordinate to read for `i`, or -1 for a pixel that does not count.
__device__ __forceinline__ std::int64_t border_source(std::int64_t i, std::int64_t size, Border border) {
  if (border == Border::replicate) return replicated(i, size);
  if (border == Border::reflect) return reflected(i, size);
  return i >= 0 && i < size ? i : -1;
}

// Pixel number `index` outside the interior: the rows above it, the rows below, then what is left and right
// of it.
__device__ inline void border_pixel(std::int64_t index, const FrameShape& shape, const Interior& interior,
                                    std::int64_t& x, std::int64_t& y) {
  const std::int64_t above = interior.y0 * shape.width;
  const std::int64_t below = (shape.height - interior.y1) * shape.width;
  if (index < above) {
    y = index / shape.width;
    x = index - y * shape.width;
  } else if (index < above + below) {
    index -= above;
    y = index / shape.width;
    x = index - y * shape.width;
    y += interior.y1;
  } else {
    index -= above + below;
    const std::int64_t beside = shape.width - (interior.x1 - interior.x0);
    y = index / beside;
    x = index - y * beside;
    y += interior.y0;
    if (x >= interior.x0) x += interior.x1 - interior.x0;
  }
}

// A thread a pixel, every coordinate checked.
template <Window W, bool Stretched>
__global__ __launch_bounds__(kBorderThreads) void smooth_border_kernel(
    DevicePlanes<const Sample> in, DevicePlanes<Sample> out, FrameShape shape, Interior interior,
    std::int64_t pixels, Histogram<Device> histogram, StageOptions options) {
  const Plane<const Sample, Device> from = plane_of_block(in);
  const Plane<Sample, Device> to = plane_of_block(out);
  StretchFactor factor{};
  if (Stretched) factor = block_stretch_factor(histogram, options, static_cast<int>(blockIdx.z));
  constexpr int kRow[kTaps] = {1,
                               W == Window::box        ? 1
                               : W == Window::triangle ? 2
                                                       : 4,
                               W == Window::box        ? 1
                               : W == Window::triangle ? 3
                                                       : 6,
                               W == Window::box        ? 1
                               : W == Window::triangle ? 2
                                                       : 4,
                               1};
  for (std::int64_t index = blockIdx.x * std::int64_t{kBorderThreads} + threadIdx.x; index < pixels;
       index += gridDim.x * std::int64_t{kBorderThreads}) {
    std::int64_t x = 0;
    std::int64_t y = 0;
    border_pixel(index, shape, interior, x, y);
    std::uint32_t sum = 0;
    std::uint32_t weights = 0;
#pragma unroll
    for (int j = 0; j < kTaps; ++j) {
      const std::int64_t from_y = border_source(y + j - kRadius, shape.height, options.border);
#pragma unroll
      for (int i = 0; i < kTaps; ++i) {
        const std::int64_t from_x = border_source(x + i - kRadius, shape.width, options.border);
        if (from_x < 0 || from_y < 0) continue;
        const int value = __ldg(from.row(from_y) + from_x);
        const auto weight = static_cast<std::uint32_t>(kRow[i] * kRow[j]);
        sum +=
            weight * (Stretched ? stretch_product(factor, value) >> 24 : static_cast<std::uint32_t>(value));
        weights += weight;
      }
    }
    to.row(y)[x] = weighted_mean(sum, weights);
  }
}

template <Window W, bool Stretched>
CudaStatus launch_smooth(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameShape& shape = call.in.shape;
  const auto planes = static_cast<unsigned>(shape.color_channels);
  const DevicePlanes<const Sample> in{{call.in.planes[0], call.in.planes[1], call.in.planes[2]}};
  const DevicePlanes<Sample> out{{call.out.planes[0], call.out.planes[1], call.out.planes[2]}};
  const Interior interior = interior_of(shape);
  const std::int64_t columns = interior.x1 - interior.x0;
  const std::int64_t rows = interior.y1 - interior.y0;
  if (columns > 0 && rows > 0) {
    constexpr std::int64_t kMaxGridY = 65535;
    const std::int64_t strips = (rows + kStripRows - 1) / kStripRows;
    const std::int64_t grid_y = (strips + kBlockWarps - 1) / kBlockWarps;
    const dim3 grid(static_cast<unsigned>((columns + kBlockColumns - 1) / kBlockColumns),
                    static_cast<unsigned>(grid_y < kMaxGridY ? grid_y : kMaxGridY), planes);
    smooth_interior_kernel<W, Stretched>
        <<<grid, kThreads, 0, launch.stream>>>(in, out, interior, call.histogram, call.options);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) return status;
  }
  const std::int64_t border_pixels = shape.pixels() - columns * rows;
  const std::int64_t blocks = (border_pixels + kBorderThreads - 1) / kBorderThreads;
  const std::int64_t most = std::int64_t{launch.multiprocessors} * 8;
  const dim3 grid(static_cast<unsigned>(blocks < most ? blocks : most), 1, planes);
  smooth_border_kernel<W, Stretched><<<grid, kBorderThreads, 0, launch.stream>>>(
      in, out, shape, interior, border_pixels, call.histogram, call.options);
  return cudaGetLastError();
}

template <bool Stretched>
CudaStatus launch_window(const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (call.options.window) {
    case Window::triangle:
      return launch_smooth<Window::triangle, Stretched>(call, launch);
    case Window::gauss:
      return launch_smooth<Window::gauss, Stretched>(call, launch);
    case Window::box:
      break;
  }
  return launch_smooth<Window::box, Stretched>(call, launch);
}

}  // namespace

CudaStatus smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_window<false>(call, launch);
}

CudaStatus contrast_smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_window<true>(call, launch);
}

}  // namespace imgpipe
