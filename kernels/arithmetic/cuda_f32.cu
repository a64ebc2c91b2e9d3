#include "images/unreachable.h"
#include "kernels/arithmetic/arithmetic.h"
#include "kernels/arithmetic/second_image.cuh"
#include "kernels/shared/map_floats.cuh"

namespace imgpipe {
namespace {

template <class Function>
struct OnFloats {
  Function function;

  __device__ std::uint32_t operator()(std::uint32_t v, std::uint32_t d) const {
    return float_bits(function(float_of_bits(v), float_of_bits(d)));
  }
};

template <class Function>
struct WithNumber {
  Function function;
  float number;

  __device__ float operator()(float v) const { return function(v, number); }
};

template <Arithmetic Op>
CudaStatus launch_operator(const StageCall<Device>& call, const CudaLaunch& launch) {
  using Function = FloatArithmetic<Op>;
  const Function function = float_arithmetic<Op>(call.parameters);
  if (call.parameters.image != nullptr)
    return map_with_second_image(call, launch, OnFloats<Function>{function});
  return map_floats(call, launch, WithNumber<Function>{function, float_of_decimal(call.parameters[0])});
}

}  // namespace

CudaStatus arithmetic_f32_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (op) {
#define IMGPIPE_CASE(name) \
  case Arithmetic::name:   \
    return launch_operator<Arithmetic::name>(call, launch);
    IMGPIPE_EACH_ARITHMETIC(IMGPIPE_CASE)
#undef IMGPIPE_CASE
  }
  unreachable();
}

}  // namespace imgpipe
