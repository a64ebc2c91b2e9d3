#include "kernels/channels/channels.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {

CudaStatus channels_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const int count = call.out.type.color_channels;
  MovedPlanes planes{};
  for (int c = 0; c < count; ++c) {
    planes.plane[c] =
        copy_plane(call.in.planes[copied_plane(call.in.type, call.out.type, call.parameters, c)],
                   call.out.planes[static_cast<std::size_t>(c)]);
  }
  copy_planes(planes, count, {call.out.planes[0].height, call.out.planes[0].row_bytes()}, 0, launch);
  return cudaGetLastError();
}

}  // namespace imgpipe
