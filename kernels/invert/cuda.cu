#include "kernels/invert/invert.h"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

// Inverts plane blockIdx.z.
IMGPIPE_POINTWISE_KERNEL invert_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out) {
  map_words(plane_of_block(in), plane_of_block(out), [](std::uint32_t word) { return ~word; });
}

}  // namespace

// Inverting the bytes inverts samples of 8 and 16 bits alike.
CudaStatus invert_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  invert_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out));
  return cudaGetLastError();
}

}  // namespace imgpipe
