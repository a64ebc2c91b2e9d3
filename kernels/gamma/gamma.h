// Gamma: v becomes 255 (v / 255)^(1 / G), of 16 bits 65535 (v / 65535)^(1 / G), rounded half up; G above 1
// brightens, as ImageMagick's -gamma and GIMP's levels do. A table of all results is made once (what cv2.LUT
// is given); floats become v^(1 / G) by kernels/gamma/power.h.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// A gamma of 1 is the image itself.
[[nodiscard]] std::string_view gamma_skip_reason(const FrameType& in, const Parameters& parameters);

// The result of each value: bins() samples; none of floats.
[[nodiscard]] std::int64_t gamma_table_bytes(const FrameType& in, const Parameters& parameters);
void gamma_table(const StageCall<Host>& call, const Band& band);

// in, out: planar, same shape; table: what gamma_table() wrote.
void gamma_reference(const StageCall<Host>& call);
void gamma_f32_reference(const StageCall<Host>& call);

// The same in SIMD.
void gamma_cpu(const StageCall<Host>& call, const Band& band);
void gamma_f32_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus gamma_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gamma16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus gamma_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
