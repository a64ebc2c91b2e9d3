// Smoothing of 16-bit samples; see strips.cuh.
//
// A thread owns 4 columns, so that it reads as many bytes per row as with 8 bits. A sum takes a register: at
// most 256 * 65535 < 2^24. Horizontal sums are products of two samples and two weights at a time.
#include "kernels/smooth/strips.cuh"

namespace imgpipe {
namespace {

constexpr int kColumns = 4;  // per thread

// floor((2S + n) / 2n) = floor((S + n/2) / n) as the upper word of (S + n/2) * ceil(2^32 / n): exact, since
// (S + n/2) * (ceil(2^32 / n) * n - 2^32) < 2^32. For n = 256, a shift.
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

// The weights of three words for an even column 0 and for the odd column 1:
//   words    -2 -1 | 0 1 | 2 3
//   even      a  b   c b   a        taps a b c b a
//   odd          a   b c   b a
template <Window W>
__device__ __forceinline__ void horizontal_sums(const RawRow& raw, std::uint32_t (&sums)[kColumns]) {
  constexpr std::uint32_t kInner = W == Window::box ? 1 : W == Window::triangle ? 2 : 4;
  constexpr std::uint32_t kMiddle = W == Window::box ? 1 : W == Window::triangle ? 3 : 6;
  constexpr std::uint32_t kOuterInner = 1 | kInner << 8;
  constexpr std::uint32_t kMiddleInner = kMiddle | kInner << 8;
  constexpr std::uint32_t kOuterNone = 1;
  constexpr std::uint32_t kNoneOuter = 1 << 8;
  constexpr std::uint32_t kInnerMiddle = kInner | kMiddle << 8;
  constexpr std::uint32_t kInnerOuter = kInner | 1 << 8;
  const std::uint32_t words[4] = {raw.left, raw.middle.x, raw.middle.y, raw.right};
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) {
    sums[2 * i] = __dp2a_lo(words[i], kOuterInner,
                            __dp2a_lo(words[i + 1], kMiddleInner, __dp2a_lo(words[i + 2], kOuterNone, 0U)));
    sums[2 * i + 1] =
        __dp2a_lo(words[i], kNoneOuter,
                  __dp2a_lo(words[i + 1], kInnerMiddle, __dp2a_lo(words[i + 2], kInnerOuter, 0U)));
  }
}

// Returns the 4 packed means of five rows of sums.
template <Window W>
__device__ __forceinline__ uint2 means_of(const std::uint32_t (&rows)[kTaps][kColumns], int newest) {
  std::uint32_t means[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) means[i] = FullWindow<W>::mean(sum_of_rows<W>(rows, newest, i));
  return make_uint2(pack_low(means[0], means[1]), pack_low(means[2], means[3]));
}

// Processes plane blockIdx.z.
template <Window W>
__global__ __launch_bounds__(kStripThreads, fitting_blocks(kStripThreads, kStripBlocks)) void smooth16_kernel(
    DevicePlanes<const Sample16> in, DevicePlanes<Sample16> out, FrameType shape, StripWork work,
    Border border) {
  const Plane<const Sample16, Device> from = plane_of_block(in);
  const Plane<Sample16, Device> to = plane_of_block(out);
  share_of_block<kColumns, false>(
      shape, work,
      [&](std::int64_t x, bool active, std::int64_t top) {
        smooth_strip<kColumns>(from, to, work.interior, x, active, top, work.strip_rows, load_row<Sample16>,
                               horizontal_sums<W>, means_of<W>);
      },
      [&](std::int64_t x, std::int64_t y) {
        smooth_border<W>(from, to, x, y, border, [](std::uint32_t value) { return value; });
      });
}

}  // namespace

CudaStatus smooth16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const SmoothParameters parameters(call.parameters);
  const FrameType& shape = call.in.type;
  const StripWork work = share_out<kColumns, false>(launch, shape);
  const dim3 grid(work.interior_blocks + work.border_blocks, 1, static_cast<unsigned>(shape.color_channels));
  return with_window(parameters.window, [&](auto window) -> CudaStatus {
    smooth16_kernel<window.value><<<grid, kStripThreads, 0, launch.stream>>>(
        color_planes_of<Sample16>(call.in), color_planes_of<Sample16>(call.out), shape, work,
        parameters.border);
    return cudaGetLastError();
  });
}

}  // namespace imgpipe
