// gray: converts colour to luma by the formula of the parameter `luma` (ITU-R BT.601 or BT.709).
#pragma once

#include "images/luma.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct GrayParameters {
  explicit constexpr GrayParameters(const Parameters& values) : luma(values.as<Luma>(0)) {}
  Luma luma;
};

// Skips images with one colour channel, which are grey.
[[nodiscard]] std::string_view gray_skip_reason(const FrameType& in, const Parameters& parameters);
[[nodiscard]] std::string_view gray_infer(const FrameType& in, const Parameters&, FrameType& out);

// in: interleaved RGB or RGBA; out: planar, one grey plane of the same size, and for RGBA the alpha plane.
void gray_reference(const StageCall<Host>& call);

// The same in SIMD, and on a CUDA device for 8-bit and 16-bit samples.
void gray_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus gray_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gray16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

// gray and hist in one pass over memory: `histogram` receives the counts of the grey plane.
CudaStatus gray_hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
