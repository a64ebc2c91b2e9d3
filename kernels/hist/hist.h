// Histogram: how often each value occurs in each colour plane. Alpha is not counted.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/count_samples.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// in: planar; histogram: bins() x color_channels, overwritten. The counts of a plane sum to its pixels.
void hist_reference(const StageCall<Host>& call);

// The same as hist_reference on a CUDA device.
CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// How samples of 16 bits are counted.
struct Hist16Way {
  int parts = 1;          // a block counts an equal part of the values: 1, 2 or 4, what shared memory holds
  bool clusters = false;  // two blocks add up what they counted: of one part, from compute capability 9.0 on
};
CudaStatus hist16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, const Hist16Way& way);

}  // namespace imgpipe
