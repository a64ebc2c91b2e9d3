#include "kernels/append/append.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {

CudaStatus append_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  const SecondImage& second = *call.parameters.image;
  const int count = call.out.type.channels();
  const View<std::byte, Device>& first = call.out.planes[plane_of_channel(call.out.type, 0)];
  MovedPlanes planes{};
  for (int c = 0; c < count; ++c) {
    const View<std::byte, Device>& out = call.out.planes[plane_of_channel(call.out.type, c)];
    if (c < type.channels()) {
      // The planes may begin at different rows of the image.
      const View<const std::byte, Device>& in = call.in.planes[plane_of_channel(type, c)];
      planes.plane[c] = copy_plane(in.rows(call.out_top - call.in_top, out.height), out);
      continue;
    }
    const std::byte* const plane = call.table.data + (c - type.channels()) * second.plane_bytes();
    planes.plane[c] = {reinterpret_cast<const std::uint8_t*>(plane + call.out_top * second.stride_bytes()),
                       reinterpret_cast<std::uint8_t*>(out.data), second.stride_bytes(), out.stride_bytes};
  }
  copy_planes(planes, count, {first.height, first.row_bytes()}, 0, launch);
  return cudaGetLastError();
}

}  // namespace imgpipe
