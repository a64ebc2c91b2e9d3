// The layout of rows of pixels in device memory, and copies to and from it.
#pragma once

#include <cstdint>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

using DeviceView = View<std::byte, Device>;
using ConstDeviceView = View<const std::byte, Device>;

inline constexpr std::int64_t kPitchBytes = 128;

// Bytes from one device row to the next: rounded up to whole vectors of kDeviceRowPixels pixels, then to a
// multiple of kPitchBytes.
inline std::int64_t device_stride_bytes(const Shape& shape) {
  const std::int64_t pixels = (shape.width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels;
  const std::int64_t row = pixels * shape.channels * bytes_per_sample(shape.sample);
  return (row + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
}
inline std::int64_t device_bytes(const Shape& shape) {
  return device_stride_bytes(shape) * shape.height;
}

inline void copy_to_device(const DeviceView& to, const ConstHostView& from, const Stream& stream) {
  IMGPIPE_CUDA(cudaMemcpy2DAsync(
      to.data, static_cast<std::size_t>(to.stride_bytes), from.data,
      static_cast<std::size_t>(from.stride_bytes), static_cast<std::size_t>(from.row_bytes()),
      static_cast<std::size_t>(from.height), cudaMemcpyHostToDevice, stream.get()));
}

inline void copy_to_host(const HostView& to, const ConstDeviceView& from, const Stream& stream) {
  IMGPIPE_CUDA(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.stride_bytes), from.data,
                                 static_cast<std::size_t>(from.stride_bytes),
                                 static_cast<std::size_t>(to.row_bytes()),
                                 static_cast<std::size_t>(to.height), cudaMemcpyDeviceToHost, stream.get()));
}

}  // namespace imgpipe
