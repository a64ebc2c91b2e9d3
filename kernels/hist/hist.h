// Histogram: how often each value occurs in each colour plane. Alpha is not counted.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// in: planar; histogram: bins() x color_channels, overwritten. The counts of a plane sum to its pixels.
void hist_reference(const StageCall<Host>& call);
void hist16_reference(const StageCall<Host>& call);

// Adds the counts of the band's rows to `histogram`.
void hist_cpu(const StageCall<Host>& call, const Band& band);
void hist16_cpu(const StageCall<Host>& call, const Band& band);

// The same as hist_reference on a CUDA device.
CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
