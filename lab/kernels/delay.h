// Time for the host to queue work in: what is timed behind it never waits for its launch (as nvbench's
// blocking kernel, but with an end of its own, so that nothing can hang).
#pragma once

#include <cstdint>

#include "kernels/cuda_launch.h"

namespace imgpipe {

// Keeps the stream busy for so long, with one thread.
CudaStatus delay_cuda(const CudaLaunch& launch, std::int64_t nanoseconds);

}  // namespace imgpipe
