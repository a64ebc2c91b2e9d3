// Samples of another type: 16 bits to the nearest of 8, 8 bits times 257; floats have white at 1
// (kernels/shared/convert.h).
#pragma once

#include "kernels/shared/convert.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The words of the parameter are in this order.
[[nodiscard]] constexpr Sample depth_wanted(const Parameters& parameters) {
  return parameters.as<Sample>(0);
}

// Calls `function` with elements of both types of a call, which differ: visit_depth(call, [&]<class From,
// class To>(From, To) { ... }).
template <class Where, class Function>
constexpr void visit_depth(const StageCall<Where>& call, const Function& function) {
  visit_any_sample(call.in.type.sample, [&]<class From>(From from) {
    visit_any_sample(call.out.type.sample, [&]<class To>(To to) {
      if constexpr (!std::is_same_v<From, To>) function(from, to);
    });
  });
}

// Samples that are of the type stay as they are.
[[nodiscard]] std::string_view depth_skip_reason(const FrameType& in, const Parameters& parameters);
// The same image, its samples of the other type.
[[nodiscard]] std::string_view depth_infer(const FrameType& in, const Parameters&, FrameType& out);

// in, out: of either layout, both the same; alpha is converted like colour.
void depth_reference(const StageCall<Host>& call);

// The same in SIMD.
void depth_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device, between integers, and to and from floats; planes as kernels/cuda_launch.h asks.
CudaStatus depth_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus depth_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
