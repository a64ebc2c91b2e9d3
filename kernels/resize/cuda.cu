// resize on a CUDA device: computes output pixels independently, from the tables of resize_table().
//
// linear and nearest: a thread computes four adjacent pixels of a row and writes them with one store; the
// caches serve the samples that neighbouring threads share. area: a thread computes a pixel; if pixels cover
// many columns, a warp does, its lanes side by side along the covered rows.
#include <algorithm>
#include <cstdint>

#include "kernels/resize/device_planes.cuh"
#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/image_group.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr int kPixels = 4;  // per thread and store
// The minimum number of covered columns for which a warp computes a pixel.
constexpr std::int64_t kWarpColumns = 16;

// ---- linear, nearest --------------------------------------------------------------------------------

__device__ __forceinline__ int4 load_entries(const std::int32_t* at) {
  return __ldg(reinterpret_cast<const int4*>(at));
}

// Returns the value between two columns, times kLinearOne, which fits in 32 bits; the added term may wrap.
template <class T>
__device__ __forceinline__ std::uint32_t blended(const T* row, int source, int share) {
  constexpr std::uint32_t kOne = kLinearOne<T>;
  const std::uint32_t left = __ldg(row + source);
  const std::uint32_t right = __ldg(row + source + (share > 0 ? 1 : 0));
  return left * kOne + (right - left) * static_cast<std::uint32_t>(share);
}

template <class T>
__device__ __forceinline__ std::uint32_t linear_at(const T* upper, const T* lower, int source, int share,
                                                   std::uint32_t down_share) {
  constexpr std::uint32_t kOne = kLinearOne<T>;
  using Sum = LinearSum<T>;
  return linear_rounded<T>(static_cast<Sum>(kOne - down_share) * blended(upper, source, share) +
                           static_cast<Sum>(down_share) * blended(lower, source, share));
}

__device__ __forceinline__ void store_four(Sample8* to, const std::uint32_t (&values)[kPixels]) {
  *reinterpret_cast<std::uint32_t*>(to) = pack_bytes<0>(values[0], values[1], values[2], values[3]);
}
__device__ __forceinline__ void store_four(Sample16* to, const std::uint32_t (&values)[kPixels]) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_low(values[0], values[1]), pack_low(values[2], values[3]));
}

// Writes four pixels, or the first `count` at the end of a row; never writes padding.
template <class T>
__device__ __forceinline__ void store_pixels(T* to, const std::uint32_t (&values)[kPixels],
                                             std::int64_t count) {
  if (count >= kPixels) {
    store_four(to, values);
    return;
  }
#pragma unroll
  for (int k = 0; k < kPixels; ++k) {
    if (k < count) to[k] = static_cast<T>(values[k]);
  }
}

// A warp computes 128 pixels of a row, a block kThreads / 32 rows; the grid strides over rows. axis_entries()
// pads the tables to whole vectors.
template <class T, bool Linear>
__global__ __launch_bounds__(kThreads) void pick_kernel(ResizePlanes<T> planes, ResizeTables tables) {
  const Plane<const T, Device> in = resize_plane_of_block(planes.in);
  const Plane<T, Device> out = resize_plane_of_block(planes.out);
  const std::int64_t x =
      (std::int64_t{blockIdx.x} * kWarpLanes + threadIdx.x % kWarpLanes) * std::int64_t{kPixels};
  if (x >= out.width) return;
  const int4 source = load_entries(tables.across.source + x);
  const int4 share = Linear ? load_entries(tables.across.share + x) : int4{};
  constexpr unsigned kRows = kThreads / kWarpLanes;
  for (std::int64_t y = std::int64_t{blockIdx.y} * kRows + threadIdx.x / kWarpLanes; y < out.height;
       y += std::int64_t{gridDim.y} * kRows) {
    const int from = __ldg(tables.down.source + y);
    const T* upper = in.row(from);
    std::uint32_t values[kPixels];
    if (Linear) {
      const auto down_share = static_cast<std::uint32_t>(__ldg(tables.down.share + y));
      const T* lower = down_share > 0 ? in.row(from + 1) : upper;
      values[0] = linear_at(upper, lower, source.x, share.x, down_share);
      values[1] = linear_at(upper, lower, source.y, share.y, down_share);
      values[2] = linear_at(upper, lower, source.z, share.z, down_share);
      values[3] = linear_at(upper, lower, source.w, share.w, down_share);
    } else {
      values[0] = __ldg(upper + source.x);
      values[1] = __ldg(upper + source.y);
      values[2] = __ldg(upper + source.z);
      values[3] = __ldg(upper + source.w);
    }
    store_pixels(out.row(y) + x, values, out.width - x);
  }
}

template <class T, bool Linear>
void launch_pick(const StageCall<Device>& call, const ResizeTables& tables, const CudaLaunch& launch) {
  const FrameType& type = call.out.type;
  const std::int64_t rows = call.out.planes[0].height;
  constexpr std::int64_t kColumns = kWarpLanes * kPixels;
  constexpr std::int64_t kRows = kThreads / kWarpLanes;
  const dim3 grid(
      static_cast<unsigned>((type.width + kColumns - 1) / kColumns),
      static_cast<unsigned>(std::min<std::int64_t>((rows + kRows - 1) / kRows, kMaxResizeBlocksDown)),
      static_cast<unsigned>(type.channels()));
  pick_kernel<T, Linear><<<grid, kThreads, 0, launch.stream>>>(resize_planes_of<T>(call), tables);
}

// ---- area -------------------------------------------------------------------------------------------

// The input pixels that an output pixel covers on an axis, and their weights in units.
struct Cover {
  std::int64_t first, last;  // inclusive
  std::uint32_t first_weight, last_weight, weight;

  __device__ Cover(const AxisTable& table, std::int64_t at, std::uint32_t in_pixel)
      : first(__ldg(table.source + at)), last(__ldg(table.source + at + 1)), weight(in_pixel) {
    const auto before = static_cast<std::uint32_t>(__ldg(table.share + at));
    const auto after = static_cast<std::uint32_t>(__ldg(table.share + at + 1));
    first_weight = (first == last ? after : in_pixel) - before;
    last_weight = after;
    if (after == 0) {  // the last edge is the first edge of a pixel
      --last;
      last_weight = in_pixel;
    }
    if (first == last) last_weight = first_weight;
  }
  __device__ std::uint32_t weight_of(std::int64_t i) const {
    return i == first ? first_weight : i == last ? last_weight : weight;
  }
};

// Returns a lane's part of the sum over the covered pixels: every Lanes-th column from first + lane on.
template <int Lanes, class Sum, class T>
__device__ __forceinline__ Sum covered_sum(const Plane<const T, Device>& in, const Cover& across,
                                           const Cover& down, unsigned lane) {
  Sum sum = 0;
  for (std::int64_t y = down.first; y <= down.last; ++y) {
    const T* row = in.row(y);
    Sum row_sum = 0;
    for (std::int64_t x = across.first + lane; x <= across.last; x += Lanes)
      row_sum += static_cast<Sum>(across.weight_of(x)) * __ldg(row + x);
    sum += row_sum * down.weight_of(y);
  }
  return sum;
}

// Lanes threads (1 or a warp) compute a pixel, a block kThreads / Lanes pixels of a row. Sum holds (white +
// 1/2) * mean.units.
template <class T, int Lanes, class Sum>
__global__ __launch_bounds__(kThreads) void area_kernel(ResizePlanes<T> planes, ResizeTables tables,
                                                        std::uint32_t across_unit, std::uint32_t down_unit,
                                                        AreaMean mean) {
  const Plane<const T, Device> in = resize_plane_of_block(planes.in);
  const Plane<T, Device> out = resize_plane_of_block(planes.out);
  const unsigned lane = threadIdx.x % Lanes;
  const std::int64_t x = std::int64_t{blockIdx.x} * (kThreads / Lanes) + threadIdx.x / Lanes;
  if (x >= out.width) return;  // uniform within a warp that computes a pixel
  const Cover across(tables.across, x, across_unit);
  for (std::int64_t y = blockIdx.y; y < out.height; y += gridDim.y) {
    const Cover down(tables.down, y, down_unit);
    Sum sum = covered_sum<Lanes, Sum>(in, across, down, lane);
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xFFFFFFFFU, sum, static_cast<unsigned>(distance));
    if (lane == 0) out.row(y)[x] = rounded_mean<T>(sum, mean);
  }
}

template <class T, int Lanes, class Sum>
void launch_area(const StageCall<Device>& call, const ResizeTables& tables, const AreaUnits& across,
                 const AreaUnits& down, const CudaLaunch& launch) {
  const FrameType& type = call.out.type;
  const std::int64_t rows = call.out.planes[0].height;
  constexpr std::int64_t kColumns = kThreads / Lanes;
  const dim3 grid(static_cast<unsigned>((type.width + kColumns - 1) / kColumns),
                  static_cast<unsigned>(std::min<std::int64_t>(rows, kMaxResizeBlocksDown)),
                  static_cast<unsigned>(type.channels()));
  area_kernel<T, Lanes, Sum><<<grid, kThreads, 0, launch.stream>>>(
      resize_planes_of<T>(call), tables, static_cast<std::uint32_t>(across.in_pixel),
      static_cast<std::uint32_t>(down.in_pixel), area_mean(across, down, sample_type_of<T>));
}

template <class T>
void launch_area(const StageCall<Device>& call, const ResizeTables& tables, const CudaLaunch& launch) {
  // 32 bits hold the weights times white plus half a unit: 65535 (2^16 - 1) + 2^15 < 2^32.
  constexpr std::uint64_t kMaxSmallUnits = kIsWide<T> ? kLargest<Sample16> : kMaxWholeUnits;
  const AreaUnits across = area_units({call.in.type.width, call.out.type.width});
  const AreaUnits down = area_units({call.in.type.height, call.out.type.height});
  const bool wide = across.out_pixel / across.in_pixel >= kWarpColumns;
  const bool small = area_mean(across, down).units <= kMaxSmallUnits;
  using Long = unsigned long long;
  if (wide && small) {
    launch_area<T, kWarpLanes, std::uint32_t>(call, tables, across, down, launch);
  } else if (wide) {
    launch_area<T, kWarpLanes, Long>(call, tables, across, down, launch);
  } else if (small) {
    launch_area<T, 1, std::uint32_t>(call, tables, across, down, launch);
  } else {
    launch_area<T, 1, Long>(call, tables, across, down, launch);
  }
}

template <class T>
CudaStatus launch_resize(const StageCall<Device>& call, const CudaLaunch& launch) {
  ResizeTables tables =
      resize_tables(call.table.as<std::int32_t>(), call.out.type.width, call.out.type.height);
  tables.down.source += call.out_top;
  tables.down.share += call.out_top;
  switch (ResizeParameters(call.parameters).method) {
    case ResizeMethod::linear:
      launch_pick<T, true>(call, tables, launch);
      break;
    case ResizeMethod::area:
      launch_area<T>(call, tables, launch);
      break;
    case ResizeMethod::nearest:
      launch_pick<T, false>(call, tables, launch);
      break;
    case ResizeMethod::box:
    case ResizeMethod::bilinear:
    case ResizeMethod::hamming:
    case ResizeMethod::bicubic:
    case ResizeMethod::lanczos:
      unreachable();
  }
  return cudaGetLastError();
}

}  // namespace

CudaStatus resize_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  if (is_filter(ResizeParameters(calls.front()->parameters).method)) return resize_filter_cuda(calls, launch);
  return launch_each(calls, [&](const StageCall<Device>& call) {
    return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_resize<T>(call, launch); });
  });
}

}  // namespace imgpipe
