// Changes the sample type: 16 bits round to the nearest 8-bit value, 8 bits are multiplied by 257; floats
// have white at 1 (kernels/shared/convert.h).
#pragma once

#include "kernels/shared/convert.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The parameter's words are in the order of Sample's enumerators.
[[nodiscard]] constexpr Sample depth_wanted(const Parameters& parameters) {
  return parameters.as<Sample>(0);
}

// Calls `function` with elements of the input's and the output's sample type, which differ: visit_depth(call,
// [&]<class From, class To>(From, To) { ... }).
template <class Where, class Function>
constexpr void visit_depth(const StageCall<Where>& call, const Function& function) {
  visit_any_sample(call.in.type.sample, [&]<class From>(From from) {
    visit_any_sample(call.out.type.sample, [&]<class To>(To to) {
      if constexpr (!std::is_same_v<From, To>) function(from, to);
    });
  });
}

// Skips images that already have the wanted sample type.
[[nodiscard]] std::string_view depth_skip_reason(const FrameType& in, const Parameters& parameters);
// The output differs only in its sample type.
[[nodiscard]] std::string_view depth_infer(const FrameType& in, const Parameters&, FrameType& out);

// in, out: the same layout, planar or interleaved; alpha is converted like colour.
void depth_reference(const StageCall<Host>& call);

void depth_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device: depth_cuda between integers, depth_f32_cuda to and from floats.
CudaStatus depth_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus depth_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
