#include "kernels/invert/invert.h"
#include "kernels/shared/map_floats.cuh"

namespace imgpipe {

CudaStatus invert_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return map_floats(call, launch, FloatInvert());
}

}  // namespace imgpipe
