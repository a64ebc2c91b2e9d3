#include "kernels/shared/gauss_tile.cuh"
#include "kernels/sharpen/sharpen.h"

namespace imgpipe {
namespace {

struct AsSharpened {
  std::uint32_t amount, threshold;

  template <class T>
  __device__ __forceinline__ std::uint32_t operator()(const T* from, std::uint32_t blurred) const {
    return sharpened<T>(__ldg(from), blurred, amount, threshold);
  }
};

template <class T>
CudaStatus launch_sharpened(const StageCall<Device>& call, const CudaLaunch& launch) {
  const SharpenParameters mask(call.parameters);
  return launch_gauss<T>(call, gauss_radius(mask.sigma), Border::reflect,
                         AsSharpened{mask.amount, mask.threshold}, launch);
}

}  // namespace

CudaStatus sharpen_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_sharpened<T>(call, launch); });
}

}  // namespace imgpipe
