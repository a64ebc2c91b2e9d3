// Launches that process one or several images. Their arguments are kernel parameters, so that nothing is
// uploaded; blockIdx.z selects the image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/stage_call.h"

namespace imgpipe {

// A kernel takes it as `const __grid_constant__`: a run-time index would copy other parameters to local
// memory.
template <class Image, std::size_t Most>
struct ImageGroup {
  Image images[Most];

  __device__ const Image& of_block() const { return images[Most == 1 ? 0 : blockIdx.z]; }
};

// CUDA C++ Programming Guide: at most 4 KB of parameters before CUDA 12.1.
constexpr std::size_t kMaxKernelParameterBytes = 4096;
template <class Image>
constexpr std::size_t kMaxGroupImages = kMaxKernelParameterBytes / sizeof(Image);

// Calls launch(group, count) with an ImageGroup, several times if there are too many calls for one launch.
// `image_of` returns the arguments of a call.
template <class ImageOf, class Launch>
CudaStatus launch_in_groups(DeviceCalls calls, const ImageOf& image_of, const Launch& launch) {
  using Image = decltype(image_of(*calls.front()));
  if (calls.size() == 1) {
    launch(ImageGroup<Image, 1>{{image_of(*calls.front())}}, 1U);
    return cudaGetLastError();
  }
  while (!calls.empty()) {
    const DeviceCalls some = calls.first(std::min(calls.size(), kMaxGroupImages<Image>));
    ImageGroup<Image, kMaxGroupImages<Image>> group{};
    for (std::size_t i = 0; i < some.size(); ++i) group.images[i] = image_of(*some[i]);
    launch(group, static_cast<unsigned>(some.size()));
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
    calls = calls.subspan(some.size());
  }
  return cudaSuccess;
}

// Calls launch(call) for one image after the other.
template <class Launch>
CudaStatus launch_each(DeviceCalls calls, const Launch& launch) {
  for (const StageCall<Device>* const call : calls) {
    if (const CudaStatus status = launch(*call); status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

// Returns the largest result of `of` for a call.
template <class Of>
auto largest_of(DeviceCalls calls, const Of& of) {
  auto largest = of(*calls.front());
  for (const StageCall<Device>* const call : calls) largest = std::max(largest, of(*call));
  return largest;
}

}  // namespace imgpipe
