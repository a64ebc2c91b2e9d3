// The negative: a sample v becomes 255 - v; 65535 - v with 16 bits; 1 - v in floats.
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

void invert_cpu(const StageCall<Host>& call, const Band& band);
void invert_f32_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus invert_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus invert_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
