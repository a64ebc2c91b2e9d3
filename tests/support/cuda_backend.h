// Runs a stage's CUDA version over host memory, in device memory filled with canaries.
#pragma once

#include <functional>
#include <string>

#include "kernels/stage.h"

namespace imgpipe::test {

// Returns why CUDA tests cannot run here, or "".
[[nodiscard]] std::string cuda_unavailable_reason();

// Copies the frames of `call` to the device (padded rows; canaries before, after and between them), launches
// stage.cuda on its own stream, and copies back. A table that the kernel reads and `call` lacks is made there
// first. Returns a CUDA error, an overwritten canary, or "".
[[nodiscard]] std::string run_on_cuda(const Stage& stage, const StageCall<Host>& call);

// The same for other work, which returns its error or "". `bytes`: the capacity of StageCall::table if `call`
// has none, else of StageCall::scratch.
using DeviceWork = std::function<std::string(const StageCall<Device>&, const CudaLaunch&)>;
[[nodiscard]] std::string run_on_cuda(const DeviceWork& work, const StageCall<Host>& call,
                                      std::int64_t bytes = 0);

}  // namespace imgpipe::test

// Reports the test as skipped without a GPU, or as failed with IMGPIPE_REQUIRE_GPU=1.
#define IMGPIPE_NEED_CUDA()                                                               \
  if (const std::string why = ::imgpipe::test::cuda_unavailable_reason(); !why.empty()) { \
    if (const char* required = std::getenv("IMGPIPE_REQUIRE_GPU");                        \
        required != nullptr && *required == '1') {                                        \
      FAIL() << "a GPU is required: " << why;                                             \
    }                                                                                     \
    GTEST_SKIP() << why;                                                                  \
  }
