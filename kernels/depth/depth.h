// Samples of 8 or 16 bits made of those of the other: 16 bits to the nearest of 8, 8 bits times 257.
#pragma once

#include "kernels/shared/convert.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// What samples of a type become.
template <class From>
using DepthTo = std::conditional_t<kIsWide<From>, Sample8, Sample16>;

[[nodiscard]] constexpr Sample depth_wanted(const Parameters& parameters) {
  return parameters[0] == 1 ? Sample::u16 : Sample::u8;
}

// Samples that have so many bits stay as they are.
[[nodiscard]] std::string_view depth_skip_reason(const FrameType& in, const Parameters& parameters);
// The same image, its samples of the other type.
[[nodiscard]] std::string_view depth_infer(const FrameType& in, const Parameters&, FrameType& out);

// in, out: of either layout, both the same; alpha is converted like colour.
void depth_reference(const StageCall<Host>& call);

// The same in SIMD.
void depth_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; planes as kernels/cuda_launch.h asks.
CudaStatus depth_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
