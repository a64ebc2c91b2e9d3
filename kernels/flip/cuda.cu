#include "kernels/flip/flip.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {

CudaStatus flip_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto& out = call.out.planes[0];
  MovedRows moved{out.height, out.row_bytes()};
  if (FlipParameters(call.parameters).direction == FlipDirection::vertical) {
    moved.first = out.height - 1;
    moved.step = -1;
    copy_rows(call, moved, 0, launch);
  } else {
    reverse_rows(call, moved, launch);
  }
  return cudaGetLastError();
}

}  // namespace imgpipe
