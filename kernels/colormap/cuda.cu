#include "kernels/colormap/colormap.h"
#include "kernels/shared/convert.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

static_assert(kMapThreads == kBins);  // each thread copies one entry

// Makes plane blockIdx.z. Barrier: the plane's table is complete before the first lookup.
template <class T>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void colormap_kernel(
    Plane<const T, Device> in, DevicePlanes<Sample8> out, const Sample8* table) {
  __shared__ Sample8 color_of[kBins];
  color_of[threadIdx.x] = table[blockIdx.z * kBins + threadIdx.x];
  __syncthreads();
  map_samples(in, plane_of_block(out), [&](std::uint32_t v) -> std::uint32_t {
    return color_of[converted<Sample8>(static_cast<T>(v))];
  });
}

}  // namespace

CudaStatus colormap_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const dim3 grid(stride_blocks<1, kMapLanePixels>(launch, call.in.type, kMapThreads, kMapBlocks), 1, 3);
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    colormap_kernel<T><<<grid, kMapThreads, 0, launch.stream>>>(
        call.in.plane<T>(0), color_planes_of<Sample8>(call.out), call.table.as<Sample8>());
    return cudaGetLastError();
  });
}

}  // namespace imgpipe
