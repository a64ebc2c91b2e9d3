// The planes of a call of resize on a CUDA device.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/resize/resize.h"

namespace imgpipe {

constexpr int kResizePlanes = 4;
constexpr unsigned kMaxResizeBlocksDown = 65535;  // CUDA C++ Programming Guide: a grid's y

// The planes of a frame in the order of its channels, for selection by blockIdx.z; samples of type T.
template <class T>
struct ResizePlanes {
  Plane<const T, Device> in[kResizePlanes];
  Plane<T, Device> out[kResizePlanes];
};

// Points the input planes at row 0 of the image, which may not be in memory; kernels read only the rows in
// memory.
template <class T>
ResizePlanes<T> resize_planes_of(const StageCall<Device>& call) {
  ResizePlanes<T> planes{};
  for (int c = 0; c < call.out.type.channels(); ++c) {
    const std::size_t plane = plane_of_channel(call.out.type, c);
    planes.in[c] = call.in.plane<T>(plane);
    const auto first_row = reinterpret_cast<std::uintptr_t>(planes.in[c].data);
    const auto rows_before = static_cast<std::uintptr_t>(call.in_top * call.in.planes[plane].stride_bytes);
    planes.in[c].data = reinterpret_cast<const T*>(first_row - rows_before);
    planes.out[c] = call.out.plane<T>(plane);
  }
  return planes;
}

// Returns the plane of blockIdx.z without indexing: see plane_of_block() in kernels/shared/device_rows.cuh.
template <class P>
__device__ __forceinline__ P resize_plane_of_block(const P (&planes)[kResizePlanes]) {
  return blockIdx.z == 0 ? planes[0] : blockIdx.z == 1 ? planes[1] : blockIdx.z == 2 ? planes[2] : planes[3];
}

}  // namespace imgpipe
