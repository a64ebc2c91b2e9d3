// The image on an opaque colour: Pillow's paste(image, mask=alpha) on an image of that colour. With samples
// of 16 bits, the same division by 65535.
#pragma once

#include "kernels/shared/color.h"
#include "kernels/shared/over.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The colour must be opaque.
[[nodiscard]] std::string_view flatten_problem(const Parameters& parameters);
// Skips images without alpha.
[[nodiscard]] std::string_view flatten_skip_reason(const FrameType& in, const Parameters&);
// The output has no alpha.
[[nodiscard]] std::string_view flatten_infer(const FrameType& in, const Parameters&, FrameType& out);

// in: planar with alpha; out: its colour planes.
void flatten_reference(const StageCall<Host>& call);

void flatten_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus flatten_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
