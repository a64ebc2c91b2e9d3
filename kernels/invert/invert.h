// The negative: every sample v becomes 255 - v, of 16 bits 65535 - v.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// in, out: planar, same shape.
void invert_reference(const StageCall<Host>& call);

// The same in SIMD.
void invert_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus invert_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
