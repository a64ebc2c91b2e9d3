#include "kernels/shared/shared_tile.cuh"
#include "kernels/sobel/sobel.h"

namespace imgpipe {
namespace {

// Returns sqrt(dx^2 + dy^2), rounded, at most the largest sample.
template <class T>
__device__ __forceinline__ std::uint32_t rounded_norm(int dx, int dy) {
  constexpr std::uint32_t kMax = kLargest<T>;
  if constexpr (!kIsWide<T>) {
    // dx^2 + dy^2 < 2^21 is exact. Below 256 a root is at least 1/4 / 511 away from a half, and the float's
    // rounding error is less than 2^-17. Larger roots are not rounded below 256.
    return min(__float2uint_rn(__fsqrt_rn(static_cast<float>(dx * dx + dy * dy))), kMax);
  } else {
    // Norms are limited to 65535, so dx and dy may be too. The float's root is less than 1/2 + 1/50 off; r is
    // correct if r^2 - r < dx^2 + dy^2 <= r^2 + r.
    const std::uint32_t x = min(static_cast<std::uint32_t>(abs(dx)), kMax);
    const std::uint32_t y = min(static_cast<std::uint32_t>(abs(dy)), kMax);
    const std::uint64_t square = std::uint64_t{x} * x + std::uint64_t{y} * y;
    const std::uint64_t near = min(__float2uint_rn(__fsqrt_rn(static_cast<float>(square))), kMax);
    if (square > near * near + near) return min(static_cast<std::uint32_t>(near) + 1, kMax);
    if (near > 0 && square <= near * near - near) return static_cast<std::uint32_t>(near) - 1;
    return static_cast<std::uint32_t>(near);
  }
}

template <class T, GradientNorm Norm>
__device__ __forceinline__ std::uint32_t gradient_of(int dx, int dy) {
  if constexpr (Norm == GradientNorm::l1) return min(abs(dx) + abs(dy), kLargest<T>);
  if constexpr (Norm == GradientNorm::l2) return rounded_norm<T>(dx, dy);
}

// Returns the gradients of a thread's four columns in row `row` of the tile.
template <class T, GradientNorm Norm>
__device__ __forceinline__ FourSamples<T> gradients(const SharedTile<T, 1>& tile, int lane, int row) {
  constexpr int kWords = 3 * FourSamples<T>::kWords;
  constexpr int kColumns = kGroup + 2;
  std::uint32_t words[3][kWords];
#pragma unroll
  for (int j = 0; j < 3; ++j) tile.read(row + j, lane, words[j]);
  int sums[kColumns];
  int differences[kColumns];
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    const auto above = static_cast<int>(sample_of<T>(words[0], kGroup - 1 + k));
    const auto middle = static_cast<int>(sample_of<T>(words[1], kGroup - 1 + k));
    const auto below = static_cast<int>(sample_of<T>(words[2], kGroup - 1 + k));
    sums[k] = above + 2 * middle + below;
    differences[k] = below - above;
  }
  FourSamples<T> four{};
  constexpr int kEach = 4 / static_cast<int>(sizeof(T));
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    const int dx = sums[k + 2] - sums[k];
    const int dy = differences[k] + 2 * differences[k + 1] + differences[k + 2];
    four.word[k / kEach] |= gradient_of<T, Norm>(dx, dy) << (k % kEach * 8 * static_cast<int>(sizeof(T)));
  }
  return four;
}

// Threads, tiles and barriers: see each_tile(). Shared memory: the tile with its halo, 2.4 KiB for 8-bit
// samples, 4.8 KiB for 16-bit ones.
template <class T, GradientNorm Norm>
__global__ __launch_bounds__(kTileThreads) void sobel_kernel(DevicePlanes<const T> in, DevicePlanes<T> out,
                                                             FrameType shape, std::int64_t tiles) {
  __shared__ SharedTile<T, 1> tile;
  each_tile<Border::reflect>(tile, in, out, shape, tiles, [&](int lane, int row, FourSamples<T>(&rows)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) rows[i] = gradients<T, Norm>(tile, lane, row + i);
  });
}

template <class T>
CudaStatus launch_sobel(const StageCall<Device>& call, const CudaLaunch& launch) {
  const bool l1 = SobelParameters(call.parameters).norm == GradientNorm::l1;
  return launch_tiles<T>(l1 ? &sobel_kernel<T, GradientNorm::l1> : &sobel_kernel<T, GradientNorm::l2>, call,
                         launch);
}

}  // namespace

CudaStatus sobel_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_sobel<T>(call, launch); });
}

}  // namespace imgpipe
