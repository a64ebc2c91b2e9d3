#include "kernels/gamma/gamma.h"
#include "kernels/shared/lookup16.cuh"

namespace imgpipe {

CudaStatus gamma16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return look_up_planes(call, {call.table.as<Sample16>(), 0}, launch);
}

}  // namespace imgpipe
