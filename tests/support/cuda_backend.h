// Runs a stage's CUDA version over host memory, in device memory full of canaries.
#pragma once

#include <functional>
#include <string>

#include "kernels/stage.h"

namespace imgpipe::test {

// "" when CUDA tests can run here, else why not.
[[nodiscard]] std::string why_no_cuda();

// Copies the frames of `call` to the device (padded rows, canaries before, behind and in the padding),
// launches stage.cuda on a stream of its own, copies back. A table that the kernel reads and `call` lacks is
// made there first. Returns "" or what went wrong: a CUDA error, a canary that was hit.
[[nodiscard]] std::string run_on_cuda(const Stage& stage, const StageCall<Host>& call);

// The same with something else to launch, which returns "" or what went wrong. `bytes`: of StageCall::table,
// if `call` has none, or of StageCall::scratch.
using DeviceWork = std::function<std::string(const StageCall<Device>&, const CudaLaunch&)>;
[[nodiscard]] std::string run_on_cuda(const DeviceWork& work, const StageCall<Host>& call,
                                      std::int64_t bytes = 0);

}  // namespace imgpipe::test

// Skips the test, visibly, where there is no GPU; IMGPIPE_REQUIRE_GPU=1 makes that a failure.
#define IMGPIPE_NEED_CUDA()                                                   \
  if (const std::string why = ::imgpipe::test::why_no_cuda(); !why.empty()) { \
    if (const char* required = std::getenv("IMGPIPE_REQUIRE_GPU");            \
        required != nullptr && *required == '1') {                            \
      FAIL() << "a GPU is required: " << why;                                 \
    }                                                                         \
    GTEST_SKIP() << why;                                                      \
  }
