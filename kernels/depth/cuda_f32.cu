// depth to and from floats: a lane converts four adjacent samples at a time.
#include <cstdint>

#include "kernels/depth/depth.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

constexpr int kDepthPixels = 4;  // per lane

// Four samples as one load and one store.
template <class T>
struct alignas(kDepthPixels * sizeof(T)) DepthSamples {
  T sample[kDepthPixels];
};

// Converts plane blockIdx.z. Padding is read, never written.
template <class To, class From>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void depth_f32_kernel(
    SamplePlanes<const From> in, SamplePlanes<To> out) {
  const Plane<const From, Device> from = block_plane(in);
  const Plane<To, Device> to = block_plane(out);
  for (RowSegments<1, kDepthPixels> at(from.width, from.height); at.inside(); at.next()) {
    const std::int64_t left = from.width - at.x();
    if (left <= 0) continue;
    const auto read = *reinterpret_cast<const DepthSamples<From>*>(from.row(at.y()) + at.x());
    DepthSamples<To> made;
#pragma unroll
    for (int k = 0; k < kDepthPixels; ++k) made.sample[k] = converted<To>(read.sample[k]);
    To* const target = to.row(at.y()) + at.x();
    if (left >= kDepthPixels) {
      *reinterpret_cast<DepthSamples<To>*>(target) = made;
      continue;
    }
#pragma unroll
    for (int k = 0; k < kDepthPixels; ++k) {
      if (k < left) target[k] = made.sample[k];
    }
  }
}

template <class To, class From>
CudaStatus launch_depth_f32(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto in = sample_planes<const From>(call.in);
  const FrameType rows{.width = in.plane[0].width, .height = in.plane[0].height};
  const dim3 grid(stride_blocks<1, kDepthPixels>(launch, rows, kMapThreads, kMapBlocks), 1,
                  static_cast<unsigned>(in.planes));
  depth_f32_kernel<To, From><<<grid, kMapThreads, 0, launch.stream>>>(in, sample_planes<To>(call.out));
  return cudaGetLastError();
}

}  // namespace

CudaStatus depth_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  if (is_float(call.out.type.sample)) {
    return visit_sample(call.in.type.sample,
                        [&]<class From>(From) { return launch_depth_f32<float, From>(call, launch); });
  }
  return visit_sample(call.out.type.sample,
                      [&]<class To>(To) { return launch_depth_f32<To, float>(call, launch); });
}

}  // namespace imgpipe
