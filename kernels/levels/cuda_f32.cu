#include "kernels/levels/levels.h"
#include "kernels/shared/map_floats.cuh"

namespace imgpipe {

CudaStatus levels_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return map_floats(call, launch, FloatLevels::of(call.parameters));
}

}  // namespace imgpipe
