// Colour to grey: the luma of each pixel by the formula that the parameter `luma` names (ITU-R BT.601 or
// BT.709).
#pragma once

#include "kernels/shared/luma.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct GrayParameters {
  explicit constexpr GrayParameters(const Parameters& values) : luma(values.as<Luma>(0)) {}
  Luma luma;
};

// An image that has one colour channel is grey.
[[nodiscard]] std::string_view gray_skip_reason(const FrameType& in, const Parameters& parameters);
// One colour channel in place of three.
[[nodiscard]] std::string_view gray_infer(const FrameType& in, const Parameters&, FrameType& out);

// in: interleaved RGB or RGBA; out: planar, one grey plane of the same size and, with RGBA, the alpha plane.
void gray_reference(const StageCall<Host>& call);

// The same in SIMD.
void gray_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; planes as kernels/cuda_launch.h asks. Returns the launch's status.
CudaStatus gray_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// Samples of 16 bits.
CudaStatus gray16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

// gray and hist in one pass over memory: `histogram` gets the counts of the grey plane.
CudaStatus gray_hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
