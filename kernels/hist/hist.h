// hist: counts the samples of each colour plane by value. Alpha is not counted.
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/count_samples.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// in: planar; histogram: bins() x color_channels, overwritten. The counts of a plane sum to its pixels.
void hist_reference(const StageCall<Host>& call);

CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// Strategies for counting 16-bit samples.
struct Hist16Strategy {
  int parts = 1;          // a block counts 1/parts of the values: 1, 2 or 4, as shared memory allows
  bool clusters = false;  // two blocks combine their counts; 1 part, compute capability 9.0 and later
};
CudaStatus hist16_strategy_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                const Hist16Strategy& method);

}  // namespace imgpipe
