#include "kernels/morphology/morphology.h"
#include "kernels/shared/pointwise.cuh"
#include "kernels/shared/window_extremes.cuh"

namespace imgpipe {
namespace {

// Returns frame `i` of the scratch memory.
Frame<std::byte, Device> scratch_frame(const StageCall<Device>& call, int i) {
  const FrameType& type = call.in.type;
  const std::int64_t stride = top_hat_stride_bytes(type);
  Frame<std::byte, Device> made{type, {}};
  for (int c = 0; c < type.color_channels; ++c) {
    std::byte* const plane = call.scratch + (i * type.color_channels + c) * stride * type.height;
    made.planes[static_cast<std::size_t>(c)] = {plane, {type.width, type.height, 1, type.sample}, stride};
  }
  return made;
}

// Processes plane blockIdx.z: high - low, sample by sample, without borrows between them.
template <class T>
IMGPIPE_POINTWISE_KERNEL subtract_kernel(DevicePlanes<const Sample8> high, DevicePlanes<const Sample8> low,
                                         DevicePlanes<Sample8> out) {
  const auto from = plane_of_block(high), less = plane_of_block(low);
  const auto to = plane_of_block(out);
  const auto minus = [](std::uint32_t a, std::uint32_t b) {
    return kIsWide<T> ? __vsub2(a, b) : __vsub4(a, b);
  };
  for (RowSegments<1> at(to.width, to.height); at.inside(); at.next()) {
    const std::int64_t left = to.width - at.x();
    if (left <= 0) continue;
    const uint4 a = load_vector(from.row(at.y()) + at.x());
    const uint4 b = load_vector(less.row(at.y()) + at.x());
    const std::uint32_t words[4] = {minus(a.x, b.x), minus(a.y, b.y), minus(a.z, b.z), minus(a.w, b.w)};
    store_vector(to.row(at.y()) + at.x(), words, left);
  }
}

template <class T>
CudaStatus launch_top_hat(const StageCall<Device>& call, const CudaLaunch& launch) {
  const int radius = window_radius(call.parameters);
  const bool white = top_hat_kind(call.parameters) == TopHat::white;
  StageCall<Device> first = call, second = call;
  first.out = scratch_frame(call, 0);
  second.in = first.out;
  second.out = scratch_frame(call, 1);
  const auto pass = [&](bool least, const StageCall<Device>& one) {
    return least ? launch_extremes_of<Extreme::least, T>(one, radius, launch)
                 : launch_extremes_of<Extreme::greatest, T>(one, radius, launch);
  };
  for (const CudaStatus status : {pass(white, first), pass(!white, second)}) {
    if (status != cudaSuccess) return status;
  }
  const auto image = color_planes(call.in);
  const auto filtered = color_planes(Frame<const std::byte, Device>(second.out));
  subtract_kernel<T><<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      white ? image : filtered, white ? filtered : image, color_planes(call.out));
  return cudaGetLastError();
}

}  // namespace

CudaStatus erode_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_extremes<Extreme::least>(call, window_radius(call.parameters), launch);
}

CudaStatus dilate_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_extremes<Extreme::greatest>(call, window_radius(call.parameters), launch);
}

CudaStatus tophat_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_top_hat<T>(call, launch); });
}

}  // namespace imgpipe
