// Launches that process one or several images. Their arguments are kernel parameters, so that nothing is
// uploaded; blockIdx.z selects the image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

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

// Returns the arguments of each call.
template <class ImageOf>
auto images_of(DeviceCalls calls, const ImageOf& image_of) {
  std::vector<decltype(image_of(*calls.front()))> images;
  for (const StageCall<Device>* const call : calls) images.push_back(image_of(*call));
  return images;
}

// Calls launch(group, count) with an ImageGroup, several times if there are too many images for one launch.
template <class Image, class Launch>
CudaStatus launch_in_groups(const std::vector<Image>& images, const Launch& launch) {
  if (images.size() == 1) {
    launch(ImageGroup<Image, 1>{{images.front()}}, 1U);
    return cudaGetLastError();
  }
  for (std::size_t first = 0; first < images.size(); first += kMaxGroupImages<Image>) {
    const auto some = std::span(images).subspan(first);
    const std::size_t count = std::min(some.size(), kMaxGroupImages<Image>);
    ImageGroup<Image, kMaxGroupImages<Image>> group{};
    std::ranges::copy(some.first(count), group.images);
    launch(group, static_cast<unsigned>(count));
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  }
  return cudaSuccess;
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
