// Delays a stream while the host queues work, so that timed work never waits for its launch. Like nvbench's
// blocking kernel, but limited in time, so that nothing can hang.
#pragma once

#include <cstdint>

#include "kernels/cuda_launch.h"

namespace imgpipe {

// Keeps the stream busy for `nanoseconds`, with one thread.
CudaStatus delay_cuda(const CudaLaunch& launch, std::int64_t nanoseconds);

}  // namespace imgpipe
