// Colour to grey: the luma of each pixel by the formula of StageOptions::luma (ITU-R BT.601 or BT.709).
#pragma once

#include "kernels/stage.h"

namespace imgpipe {

// in: interleaved RGB or RGBA; out: planar, one grey plane of the same size and, with RGBA, the alpha plane.
void gray_reference(const StageCall<Host>& call);

// The same in SIMD.
void gray_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; planes as kernels/cuda_launch.h asks. Returns the launch's status.
CudaStatus gray_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

// gray and hist in one pass over memory: `histogram` gets the counts of the grey plane.
CudaStatus gray_hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
