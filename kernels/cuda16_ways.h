// How the CUDA functions of 16-bit samples do their work. The stages' own functions, without a way, pick what
// is fastest on the present device; with these, tests reach what others run. See also Hist16Way.
#pragma once

#include "kernels/threshold/threshold.h"

namespace imgpipe {

// How the bins of a histogram are gone over: by clusters of blocks where the device and what was compiled for
// it have them (compute capability 9.0 on), or by one block each, as elsewhere.
enum class Clusters : std::uint8_t { where_they_are, none };

CudaStatus contrast16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, Clusters way);
CudaStatus equalize16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, Clusters way);
CudaStatus threshold16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, OtsuWay otsu,
                                Clusters way);

// A block counts an equal part of the values: 1, 2 or 4, what shared memory holds.
CudaStatus clahe16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int parts);

}  // namespace imgpipe
