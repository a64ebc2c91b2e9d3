// The negative: every sample v becomes 255 - v, of 16 bits 65535 - v, of floats 1 - v.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/float_sample.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct FloatInvert {
  IMGPIPE_HOST_DEVICE float operator()(float v) const { return canonical(1.0F - v); }
};

// in, out: planar, same shape.
void invert_reference(const StageCall<Host>& call);
void invert_f32_reference(const StageCall<Host>& call);

// The same in SIMD.
void invert_cpu(const StageCall<Host>& call, const Band& band);
void invert_f32_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus invert_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus invert_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
