// Runs a rung's CUDA version over host memory, as cuda_backend.h does a stage's.
#pragma once

#include <string>

#include "lab/kernels/rung.h"

namespace imgpipe::test {

// With a grid (0: the rung's own), and scratch memory that holds rubbish and is followed by canaries.
// `scratch_bytes`: of StageCall::scratch.
[[nodiscard]] std::string run_rung_on_cuda(const Rung& rung, const StageCall<Host>& call, int block,
                                           int blocks, std::int64_t scratch_bytes = 0);

// What the device lacks for the rung, or why a library that it calls is missing; "" when all is there.
[[nodiscard]] std::string missing_on_cuda(const Rung& rung);

}  // namespace imgpipe::test
