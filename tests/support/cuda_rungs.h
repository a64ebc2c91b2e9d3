// Runs a rung's CUDA version over host memory, as cuda_backend.h does a stage's.
#pragma once

#include <string>

#include "kernels/lab/rung.h"

namespace imgpipe::test {

// With a grid (0: the rung's own), and scratch memory that holds rubbish and is followed by canaries.
[[nodiscard]] std::string run_rung_on_cuda(const Rung& rung, const StageCall<Host>& call, int block,
                                           int blocks);

// Why a library that the rung calls is missing, "" when it is there.
[[nodiscard]] std::string missing_on_cuda(const Rung& rung);

}  // namespace imgpipe::test
