// Smoothing by sums in registers; see strips.cuh.
//
// A thread owns 8 columns. Two byte dot products make a horizontal sum of five taps (they run in parallel
// with the pipe that shuffles and adds); two sums share a register.
//
// H200, 2026-11-20, 8773x5352, box, us. With 25 loads under branches for each border pixel: this version
// 36.7; one sum per register 40.3; sums by packed additions, loads in bursts of five rows 37.7; a running
// vertical sum for the box 43.5 (its four registers cost a block per multiprocessor). With border loads
// without branches: 34.1; strips of 55 rows instead of 60: 33.8 (20 rows: 34.9; 40: 41, as the last wave has
// too little work), fused 43.5 (20 rows: 47.4). The border before the interior: 36.2.
#include <type_traits>

#include "kernels/shared/stretch_block.cuh"
#include "kernels/smooth/strips.cuh"

namespace imgpipe {
namespace {

constexpr int kColumns = 8;             // per thread
static_assert(kStripThreads >= kBins);  // one thread per bin computes the stretch

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
// pair i. A sum, even of five rows, is at most 256 * 255 < 2^16, so the halves do not overlap.
constexpr int kPairs = kColumns / 2;

template <Window W>
__device__ __forceinline__ void horizontal_sums(const RawRow& raw, std::uint32_t (&sums)[kPairs]) {
  // The weights of the first four taps, and of the fifth, which is in the last byte of the next word.
  constexpr std::uint32_t kFour = W == Window::box        ? 0x01010101
                                  : W == Window::triangle ? 0x02030201
                                                          : 0x04060401;
  constexpr std::uint32_t kFifth = 0x01000000;
  const std::uint32_t x = raw.middle.x;
  const std::uint32_t y = raw.middle.y;
  // Word k: four bytes starting at column k - 2.
  const std::uint32_t words[kColumns + 1] = {__byte_perm(raw.left, x, 0x5432),
                                             __byte_perm(raw.left, x, 0x6543),
                                             x,
                                             __byte_perm(x, y, 0x4321),
                                             __byte_perm(x, y, 0x5432),
                                             __byte_perm(x, y, 0x6543),
                                             y,
                                             __byte_perm(y, raw.right, 0x4321),
                                             __byte_perm(y, raw.right, 0x5432)};
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t high = __dp4a(words[2 * i + 1], kFour, __dp4a(words[2 * i + 2], kFifth, 0U));
    sums[i] = __dp4a(words[2 * i], kFour, __dp4a(words[2 * i + 1], kFifth, high << 16));
  }
}

// Returns the 8 packed means of five rows of sums.
template <Window W>
__device__ __forceinline__ uint2 means_of(const std::uint32_t (&rows)[kTaps][kPairs], int newest) {
  std::uint32_t means[kColumns];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t sum = sum_of_rows<W>(rows, newest, i);
    // The mean is byte 3.
    means[2 * i] = (sum & 0xFFFF) * FullWindow<W>::kFactor + FullWindow<W>::kRound * FullWindow<W>::kFactor;
    means[2 * i + 1] = (sum >> 16) * FullWindow<W>::kFactor + FullWindow<W>::kRound * FullWindow<W>::kFactor;
  }
  return make_uint2(pack_bytes<3>(means[0], means[1], means[2], means[3]),
                    pack_bytes<3>(means[4], means[5], means[6], means[7]));
}

// Plain: every lane loads all columns that it needs. Stretched: a lane stretches its own 8 columns and gets
// its neighbours' by shuffles, so that the first and the last lane of a warp only supply columns. (Rejected
// for plain: 44 against 37 us.)
template <bool Stretched>
__device__ __forceinline__ RawRow load_own(const Sample8* at) {
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

// The stretch of a strip, in floats where that is faster. H200, 2026-11-22, contrast + smooth of 8773x5352 in
// the engine, us, for box | triangle | gauss: floats 42.4 | 44.4 | 42.8, integers 44.0 | 44.0 | 42.1.
template <Window W>
using StripStretch = std::conditional_t<W == Window::box, FloatStretch, StretchFactor>;
__device__ __forceinline__ void take_factor(FloatStretch& stretch, const StretchFactor& factor) {
  stretch = float_stretch(factor);
}
__device__ __forceinline__ void take_factor(StretchFactor& stretch, const StretchFactor& factor) {
  stretch = factor;
}

// Processes plane blockIdx.z.
template <Window W, bool Stretched>
__global__ __launch_bounds__(kStripThreads, fitting_blocks(kStripThreads, kStripBlocks)) void smooth_kernel(
    DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out, FrameType shape, StripWork work,
    Histogram<Device> histogram, ContrastParameters stretch, Border border) {
  const Plane<const Sample8, Device> from = plane_of_block(in);
  const Plane<Sample8, Device> to = plane_of_block(out);
  StretchFactor factor{};
  if (Stretched) factor = block_stretch_factor(histogram, stretch, static_cast<int>(blockIdx.z));
  share_of_block<kColumns, Stretched>(
      shape, work,
      [&](std::int64_t x, bool active, std::int64_t top) {
        StripStretch<W> strip_stretch{};
        if (Stretched) take_factor(strip_stretch, factor);
        smooth_strip<kPairs>(
            from, to, work.interior, x, active, top, work.strip_rows, load_own<Stretched>,
            [&](const RawRow& raw, std::uint32_t(&sums)[kPairs]) {
              horizontal_sums<W>(completed<Stretched>(raw, strip_stretch), sums);
            },
            means_of<W>);
      },
      [&](std::int64_t x, std::int64_t y) {
        smooth_border<W>(from, to, x, y, border, [&](int value) {
          return Stretched ? stretch_product(factor, value) >> 24 : static_cast<std::uint32_t>(value);
        });
      });
}

// `stretch`: the parameters of the preceding contrast, if Stretched.
template <bool Stretched>
CudaStatus launch_smooth(const StageCall<Device>& call, const SmoothParameters& smooth,
                         const ContrastParameters& stretch, const CudaLaunch& launch) {
  const FrameType& shape = call.in.type;
  const StripWork work = share_out<kColumns, Stretched>(launch, shape);
  const dim3 grid(work.interior_blocks + work.border_blocks, 1, static_cast<unsigned>(shape.color_channels));
  return with_window(smooth.window, [&](auto window) -> CudaStatus {
    smooth_kernel<window.value, Stretched><<<grid, kStripThreads, 0, launch.stream>>>(
        color_planes_of<Sample8>(call.in), color_planes_of<Sample8>(call.out), shape, work, call.histogram,
        stretch, smooth.border);
    return cudaGetLastError();
  });
}

}  // namespace

CudaStatus smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_smooth<false>(call, SmoothParameters(call.parameters), ContrastParameters({}), launch);
}

CudaStatus contrast_smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_smooth<true>(call, SmoothParameters(call.parameters, ContrastParameters::kCount),
                             ContrastParameters(call.parameters), launch);
}

}  // namespace imgpipe
