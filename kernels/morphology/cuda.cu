#include "kernels/morphology/morphology.h"
#include "kernels/shared/window_extremes.cuh"

namespace imgpipe {

CudaStatus erode_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_extremes<Extreme::least>(call, window_radius(call.parameters), launch);
}

CudaStatus dilate_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_extremes<Extreme::greatest>(call, window_radius(call.parameters), launch);
}

}  // namespace imgpipe
