// Conversion between interleaved pixels, as in files, and planes, as most stages require.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// in: interleaved, 2 to 4 channels; out: the same image planar.
void split_reference(const StageCall<Host>& call);

// in: planar, colour or with alpha; out: the same image interleaved.
void merge_reference(const StageCall<Host>& call);

void split_cpu(const StageCall<Host>& call, const Band& band);
void merge_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus split_cuda(DeviceCalls calls, const CudaLaunch& launch);
CudaStatus merge_cuda(DeviceCalls calls, const CudaLaunch& launch);

}  // namespace imgpipe
