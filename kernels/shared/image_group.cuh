// Launches that process one or several images. Their arguments are kernel parameters, so that nothing is
// uploaded; blockIdx.z selects the image.
#pragma once

#include <algorithm>
#include <cstddef>

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

// Calls launch(group, part) with the arguments of the calls in `part`, which image_of(call) returns; several
// times if there are too many images for one launch.
template <class ImageOf, class Launch>
CudaStatus launch_in_groups(DeviceCalls calls, const ImageOf& image_of, const Launch& launch) {
  using Image = decltype(image_of(*calls.front()));
  constexpr std::size_t kMost = kMaxGroupImages<Image>;
  static_assert(kMost > 1);
  if (calls.size() == 1) return launch(ImageGroup<Image, 1>{{image_of(*calls.front())}}, calls);
  while (!calls.empty()) {
    const DeviceCalls part = calls.first(std::min(calls.size(), kMost));
    ImageGroup<Image, kMost> group{};
    std::ranges::transform(part, group.images,
                           [&](const StageCall<Device>* call) { return image_of(*call); });
    if (const CudaStatus status = launch(group, part); status != cudaSuccess) return status;
    calls = calls.subspan(part.size());
  }
  return cudaSuccess;
}

// Returns the grid's size along z for the calls of a launch.
inline unsigned group_size(DeviceCalls part) {
  return static_cast<unsigned>(part.size());
}

// Calls launch(call) for each image in turn.
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
