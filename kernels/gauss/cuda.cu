#include "kernels/gauss/gauss.h"
#include "kernels/shared/gauss_tile.cuh"

namespace imgpipe {
namespace {

struct AsBlurred {
  template <class T>
  __device__ __forceinline__ std::uint32_t operator()(const T*, std::uint32_t blurred) const {
    return blurred;
  }
};

template <class T>
CudaStatus launch_blurred(const StageCall<Device>& call, const CudaLaunch& launch) {
  const GaussParameters parameters(call.parameters);
  return launch_gauss<T>(call, gauss_radius(parameters.sigma), parameters.border, AsBlurred(), launch);
}

}  // namespace

CudaStatus gauss_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_blurred<T>(call, launch); });
}

}  // namespace imgpipe
