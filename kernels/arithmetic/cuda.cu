#include "images/unreachable.h"
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

template <class T>
CudaStatus launch_operator(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (op) {
#define IMGPIPE_CASE(name) \
  case Arithmetic::name:   \
    return launch_with_image<Arithmetic::name, T>(call, launch);
    IMGPIPE_EACH_ARITHMETIC(IMGPIPE_CASE)
#undef IMGPIPE_CASE
  }
  unreachable();
}

}  // namespace

CudaStatus arithmetic_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_operator<Sample8>(op, call, launch);
}

CudaStatus arithmetic16_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_operator<Sample16>(op, call, launch);
}

}  // namespace imgpipe
