#include "kernels/crop/crop.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {

CudaStatus crop_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const CropParameters wanted(call.parameters);
  const FrameType& type = call.in.type;
  const auto& out = call.out.planes[0];
  const std::int64_t top = crop_offset(wanted.y, wanted.height, type.height) + call.out_top - call.in_top;
  const std::int64_t left = crop_offset(wanted.x, wanted.width, type.width);
  copy_rows(call, {out.height, out.row_bytes(), top}, left * pixel_bytes(out), launch);
  return cudaGetLastError();
}

}  // namespace imgpipe
