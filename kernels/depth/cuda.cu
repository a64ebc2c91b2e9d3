#include "kernels/depth/depth.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

// The sample type that integers are converted to.
template <class From>
using DepthTo = std::conditional_t<kIsWide<From>, Sample8, Sample16>;

// Converts plane blockIdx.z.
template <class To, class From>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void depth_kernel(
    SamplePlanes<const From> in, SamplePlanes<To> out) {
  map_samples(block_plane(in), block_plane(out),
              [](std::uint32_t value) -> std::uint32_t { return converted<To>(static_cast<From>(value)); });
}

template <class To, class From>
CudaStatus launch_depth(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto in = sample_planes<const From>(call.in);
  depth_kernel<To, From>
      <<<map_grid(launch, in), kMapThreads, 0, launch.stream>>>(in, sample_planes<To>(call.out));
  return cudaGetLastError();
}

}  // namespace

CudaStatus depth_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample,
                      [&]<class From>(From) { return launch_depth<DepthTo<From>, From>(call, launch); });
}

}  // namespace imgpipe
