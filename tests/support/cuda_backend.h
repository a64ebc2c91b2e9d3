// Runs a stage's CUDA version over host memory, in device memory full of canaries.
#pragma once

#include <string>

#include "kernels/lab/rung.h"

namespace imgpipe::test {

// "" when CUDA tests can run here, else why not.
[[nodiscard]] std::string why_no_cuda();

// Copies the frames of `call` to the device (padded rows, canaries before, behind and in the padding),
// launches stage.cuda on a stream of its own, copies back. Returns "" or what went wrong: a CUDA error, a
// canary that was hit.
[[nodiscard]] std::string run_on_cuda(const Stage& stage, const StageCall<Host>& call);

// The same for a rung of a ladder, with a grid (0: its own) and scratch memory that holds rubbish and is
// followed by canaries.
[[nodiscard]] std::string run_rung_on_cuda(const Rung& rung, const StageCall<Host>& call, int block,
                                           int blocks);

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
