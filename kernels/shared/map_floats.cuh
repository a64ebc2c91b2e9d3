// Maps planes of floats through a function of one sample, on a CUDA device.
#pragma once

#include "kernels/shared/float_sample.h"
#include "kernels/shared/pointwise.cuh"
#include "kernels/stage_call.h"

namespace imgpipe {

// Processes plane blockIdx.z.
template <class Function>
IMGPIPE_POINTWISE_KERNEL map_floats_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                           Function function) {
  map_words(plane_of_block(in), plane_of_block(out),
            [&](std::uint32_t word) { return float_bits(function(float_of_bits(word))); });
}

template <class Function>
CudaStatus map_floats(const StageCall<Device>& call, const CudaLaunch& launch, const Function& function) {
  map_floats_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), function);
  return cudaGetLastError();
}

}  // namespace imgpipe
