// Maps the samples of an image and of a second one through a function, on a CUDA device.
#pragma once

#include "kernels/second_image.h"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {

// Processes plane blockIdx.z. A lane handles 16 adjacent bytes of both images at a time, by
// function(word, word of the second image).
template <class Function>
IMGPIPE_POINTWISE_KERNEL second_image_kernel(DevicePlanes<const Sample8> in,
                                             DevicePlanes<const Sample8> second, DevicePlanes<Sample8> out,
                                             Function function) {
  const auto from = plane_of_block(in), by = plane_of_block(second);
  const auto to = plane_of_block(out);
  for (RowSegments<kPointwiseVectors> at(to.width, to.height); at.inside(); at.next()) {
    const std::int64_t left = to.width - at.x();
    uint4 v[kPointwiseVectors], d[kPointwiseVectors];
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      v[i] = load_vector(from.row(at.y()) + at.x() + i * kSegmentPixels);
      d[i] = load_vector(by.row(at.y()) + at.x() + i * kSegmentPixels);
    }
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      const std::uint32_t words[4] = {function(v[i].x, d[i].x), function(v[i].y, d[i].y),
                                      function(v[i].z, d[i].z), function(v[i].w, d[i].w)};
      store_vector(to.row(at.y()) + at.x() + i * kSegmentPixels, words, left - i * kSegmentPixels);
    }
  }
}

template <class Function>
CudaStatus map_with_second_image(const StageCall<Device>& call, const CudaLaunch& launch,
                                 const Function& function) {
  const auto out = color_planes(call.out);
  auto in = color_planes(call.in);
  DevicePlanes<const Sample8> second{};
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    // The planes may begin at different rows of the image.
    in.plane[c] = in.plane[c].rows(call.out_top - call.in_top, out.plane[c].height);
    Plane<const Sample8, Device> plane = second_color_plane<Sample8>(call, c);
    plane.width = in.plane[c].width;
    second.plane[c] = plane.rows(call.out_top, out.plane[c].height);
  }
  second_image_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      in, second, out, function);
  return cudaGetLastError();
}

}  // namespace imgpipe
