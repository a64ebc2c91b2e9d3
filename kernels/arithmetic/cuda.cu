#include "kernels/arithmetic/arithmetic.h"
#include "kernels/arithmetic/second_image.cuh"

namespace imgpipe {
namespace {

// Maps words of four 8-bit or two 16-bit samples.
template <class T, class Function>
struct OnWords {
  Function function;

  __device__ std::uint32_t operator()(std::uint32_t v, std::uint32_t d) const {
    constexpr unsigned kBits = 8 * sizeof(T);
    std::uint32_t result = 0;
#pragma unroll
    for (unsigned at = 0; at < 32; at += kBits)
      result |= std::uint32_t{function(v >> at & kLargest<T>, d >> at & kLargest<T>)} << at;
    return result;
  }
};

template <Arithmetic Op, class T>
CudaStatus launch_with_image(const StageCall<Device>& call, const CudaLaunch& launch) {
  using Function = IntegerArithmetic<Op, T>;
  return map_with_second_image(call, launch, OnWords<T, Function>{Function{scale_of<Op>(call.parameters)}});
}

}  // namespace

template <Arithmetic Op>
CudaStatus arithmetic_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_with_image<Op, Sample8>(call, launch);
}

template <Arithmetic Op>
CudaStatus arithmetic16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_with_image<Op, Sample16>(call, launch);
}

#define IMGPIPE_INSTANTIATE(op)                                                                     \
  template CudaStatus arithmetic_cuda<Arithmetic::op>(const StageCall<Device>&, const CudaLaunch&); \
  template CudaStatus arithmetic16_cuda<Arithmetic::op>(const StageCall<Device>&, const CudaLaunch&);
IMGPIPE_EACH_ARITHMETIC(IMGPIPE_INSTANTIATE)

}  // namespace imgpipe
