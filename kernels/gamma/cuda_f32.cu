#include "kernels/gamma/gamma.h"
#include "kernels/gamma/power.h"
#include "kernels/shared/map_floats.cuh"

namespace imgpipe {

CudaStatus gamma_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return map_floats(call, launch, FloatGamma{GammaExponent::of(call.parameters[0])});
}

}  // namespace imgpipe
