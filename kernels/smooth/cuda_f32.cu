// smooth of floats on a CUDA device. A thread computes four adjacent pixels: the sums of eight columns over
// five rows, served by the caches, then five sums across for each pixel. Ignored taps are not read.
#include <algorithm>
#include <cstdint>

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/float_sample.h"
#include "kernels/smooth/float_taps.h"
#include "kernels/smooth/smooth.h"

namespace imgpipe {
namespace {

constexpr int kSmoothThreads = 256;  // adjacent in a row
constexpr int kSmoothPixels = 4;     // per thread
constexpr int kSmoothSums = kSmoothPixels + 2 * kRadius;
constexpr unsigned kMaxSmoothRows = 65535;  // CUDA C++ Programming Guide: a grid's y

// Returns the coordinate to read for `i`, or -1 if the pixel is ignored (Border::shrink).
__device__ __forceinline__ std::int64_t tap_source(std::int64_t i, std::int64_t size, Border border) {
  if (i >= 0 && i < size) return i;
  if (border == Border::replicate) return replicated(i, size);
  return border == Border::reflect ? reflected(i, size) : -1;
}

// Returns the sum of the weights of the taps around `center` that are not ignored.
template <Window W>
__device__ __forceinline__ int weights_around(std::int64_t center, std::int64_t size, Border border) {
  constexpr int kInner = W == Window::box ? 1 : W == Window::triangle ? 2 : 4;
  constexpr int kMiddle = W == Window::box ? 1 : W == Window::triangle ? 3 : 6;
  constexpr int kRow[kTaps] = {1, kInner, kMiddle, kInner, 1};
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kTaps; ++i) sum += tap_source(center + i - kRadius, size, border) < 0 ? 0 : kRow[i];
  return sum;
}

// Processes plane blockIdx.z; the grid strides over rows.
template <Window W>
__global__ __launch_bounds__(kSmoothThreads) void smooth_f32_kernel(DevicePlanes<const float> in,
                                                                    DevicePlanes<float> out, Border border) {
  const Plane<const float, Device> from = plane_of_block(in);
  const Plane<float, Device> to = plane_of_block(out);
  const std::int64_t x =
      (std::int64_t{blockIdx.x} * kSmoothThreads + threadIdx.x) * std::int64_t{kSmoothPixels};
  if (x >= from.width) return;
  for (std::int64_t y = blockIdx.y; y < from.height; y += gridDim.y) {
    const float* rows[kTaps];
#pragma unroll
    for (int j = 0; j < kTaps; ++j) {
      const std::int64_t row = tap_source(y + j - kRadius, from.height, border);
      rows[j] = row < 0 ? nullptr : from.row(row);
    }
    float sums[kSmoothSums];
#pragma unroll
    for (int i = 0; i < kSmoothSums; ++i) {
      const std::int64_t column = tap_source(x + i - kRadius, from.width, border);
      float taps[kTaps];
#pragma unroll
      for (int j = 0; j < kTaps; ++j)
        taps[j] = column < 0 || rows[j] == nullptr ? 0.0F : __ldg(rows[j] + column);
      sums[i] = float_taps<W>(taps[0], taps[1], taps[2], taps[3], taps[4]);
    }
    const int down = weights_around<W>(y, from.height, border);
#pragma unroll
    for (int i = 0; i < kSmoothPixels; ++i) {
      if (x + i >= from.width) continue;
      const int across = weights_around<W>(x + i, from.width, border);
      const float sum = float_taps<W>(sums[i], sums[i + 1], sums[i + 2], sums[i + 3], sums[i + 4]);
      to.row(y)[x + i] = canonical(sum / static_cast<float>(across * down));
    }
  }
}

template <Window W>
CudaStatus launch_smooth_f32(const StageCall<Device>& call, Border border, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  constexpr std::int64_t kColumns = kSmoothThreads * kSmoothPixels;
  const dim3 grid(static_cast<unsigned>((type.width + kColumns - 1) / kColumns),
                  static_cast<unsigned>(std::min<std::int64_t>(type.height, kMaxSmoothRows)),
                  static_cast<unsigned>(type.color_channels));
  smooth_f32_kernel<W><<<grid, kSmoothThreads, 0, launch.stream>>>(color_planes_of<float>(call.in),
                                                                   color_planes_of<float>(call.out), border);
  return cudaGetLastError();
}

}  // namespace

CudaStatus smooth_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const SmoothParameters parameters(call.parameters);
  switch (parameters.window) {
    case Window::box:
      return launch_smooth_f32<Window::box>(call, parameters.border, launch);
    case Window::triangle:
      return launch_smooth_f32<Window::triangle>(call, parameters.border, launch);
    case Window::gauss:
      return launch_smooth_f32<Window::gauss>(call, parameters.border, launch);
  }
  unreachable();
}

}  // namespace imgpipe
