// resize of floats on a CUDA device: one thread per output pixel, with the tables of resize_table().
#include <algorithm>
#include <cstdint>

#include "kernels/resize/device_planes.cuh"
#include "kernels/resize/float_axis.h"

namespace imgpipe {
namespace {

constexpr int kFloatThreads = 256;  // adjacent in a row

__device__ __forceinline__ float share_at(const AxisTable& table, std::int64_t i) {
  return float_of_bits(static_cast<std::uint32_t>(__ldg(table.share + i)));
}

__device__ __forceinline__ float blended_at(const float* row, int source, float share) {
  return float_blended(__ldg(row + source), share > 0 ? __ldg(row + source + 1) : 0.0F, share);
}

struct LinearPixel {
  __device__ float operator()(const Plane<const float, Device>& in, const ResizeTables& tables,
                              std::int64_t x, std::int64_t y) const {
    const int source = __ldg(tables.across.source + x);
    const float share = share_at(tables.across, x);
    const int from = __ldg(tables.down.source + y);
    const float down_share = share_at(tables.down, y);
    const float upper = blended_at(in.row(from), source, share);
    const float lower = down_share > 0 ? blended_at(in.row(from + 1), source, share) : 0.0F;
    return canonical(float_blended(upper, lower, down_share));
  }
};

struct NearestPixel {
  __device__ float operator()(const Plane<const float, Device>& in, const ResizeTables& tables,
                              std::int64_t x, std::int64_t y) const {
    return __ldg(in.row(__ldg(tables.down.source + y)) + __ldg(tables.across.source + x));
  }
};

__device__ __forceinline__ FloatCover cover_at(const AxisTable& table, std::int64_t i,
                                               const AreaUnits& units) {
  return float_cover({__ldg(table.source + i), __ldg(table.share + i)},
                     {__ldg(table.source + i + 1), __ldg(table.share + i + 1)}, units);
}

// Returns the mean of value(i) over the pixels that an output pixel covers on an axis, in ascending order.
template <class Value>
__device__ __forceinline__ float mean_of(const FloatCover& cover, const Value& value) {
  float sum = cover.first_weight * value(cover.first);
  for (std::int64_t i = cover.first + 1; i <= cover.last; ++i) sum += cover.weight_of(i) * value(i);
  return sum / cover.length;
}

struct AreaPixel {
  AreaUnits across, down;

  __device__ float operator()(const Plane<const float, Device>& in, const ResizeTables& tables,
                              std::int64_t x, std::int64_t y) const {
    const FloatCover columns = cover_at(tables.across, x, across);
    const FloatCover rows = cover_at(tables.down, y, down);
    return canonical(mean_of(columns, [&](std::int64_t i) {
      return mean_of(rows, [&](std::int64_t j) { return __ldg(in.row(j) + i); });
    }));
  }
};

// Processes plane blockIdx.z; the grid strides over rows.
template <class Pixel>
__global__ __launch_bounds__(kFloatThreads) void resize_f32_kernel(ResizePlanes<float> planes,
                                                                   ResizeTables tables, Pixel pixel) {
  const Plane<const float, Device> in = resize_plane_of_block(planes.in);
  const Plane<float, Device> out = resize_plane_of_block(planes.out);
  const std::int64_t x = std::int64_t{blockIdx.x} * kFloatThreads + threadIdx.x;
  if (x >= out.width) return;
  for (std::int64_t y = blockIdx.y; y < out.height; y += gridDim.y) out.row(y)[x] = pixel(in, tables, x, y);
}

template <class Pixel>
CudaStatus launch_resize_f32(const StageCall<Device>& call, const CudaLaunch& launch, const Pixel& pixel) {
  const FrameType& type = call.out.type;
  ResizeTables tables = resize_tables(call.table.as<std::int32_t>(), type.width, type.height);
  tables.down.source += call.out_top;
  tables.down.share += call.out_top;
  const std::int64_t rows = call.out.planes[0].height;
  const dim3 grid(static_cast<unsigned>((type.width + kFloatThreads - 1) / kFloatThreads),
                  static_cast<unsigned>(std::min<std::int64_t>(rows, kMaxResizeBlocksDown)),
                  static_cast<unsigned>(type.channels()));
  resize_f32_kernel<<<grid, kFloatThreads, 0, launch.stream>>>(resize_planes_of<float>(call), tables, pixel);
  return cudaGetLastError();
}

}  // namespace

CudaStatus resize_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (ResizeParameters(call.parameters).method) {
    case ResizeMethod::linear:
      return launch_resize_f32(call, launch, LinearPixel());
    case ResizeMethod::area:
      return launch_resize_f32(call, launch,
                               AreaPixel{area_units({call.in.type.width, call.out.type.width}),
                                         area_units({call.in.type.height, call.out.type.height})});
    case ResizeMethod::nearest:
      return launch_resize_f32(call, launch, NearestPixel());
    case ResizeMethod::box:
    case ResizeMethod::bilinear:
    case ResizeMethod::hamming:
    case ResizeMethod::bicubic:
    case ResizeMethod::lanczos:
      break;  // for integers
  }
  unreachable();
}

}  // namespace imgpipe
