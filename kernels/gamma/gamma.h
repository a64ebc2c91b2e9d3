// Gamma: v becomes W (v / W)^(1 / G) with white W, rounded half up; G above 1 brightens, as with
// ImageMagick's -gamma and GIMP's levels. A table of all results is made once, as for cv2.LUT. Floats have no
// table; they become v^(1 / G), computed by kernels/gamma/power.h.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// A gamma of 1 leaves the image unchanged.
[[nodiscard]] std::string_view gamma_skip_reason(const FrameType& in, const Parameters& parameters);

// The result of each value: bins() samples; empty for floats.
[[nodiscard]] std::int64_t gamma_table_bytes(const FrameType& in, const Parameters& parameters);
void gamma_table(const StageCall<Host>& call, const Band& band);

// in, out: planar, same shape; table: the output of gamma_table().
void gamma_reference(const StageCall<Host>& call);
void gamma_f32_reference(const StageCall<Host>& call);

void gamma_cpu(const StageCall<Host>& call, const Band& band);
void gamma_f32_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus gamma_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gamma16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gamma_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
