// Runs a variant's CUDA version over host memory, as cuda_backend.h does for a stage.
#pragma once

#include <string>

#include "lab/kernels/stage_variant.h"

namespace imgpipe::test {

// Launches with a grid (0: the variant's default). The scratch memory holds garbage and is followed by
// canaries. `scratch_bytes`: the capacity of StageCall::scratch.
[[nodiscard]] std::string run_variant_on_cuda(const StageVariant& variant, const StageCall<Host>& call,
                                              int block, int blocks, std::int64_t scratch_bytes = 0);

// Returns which device feature or library the variant lacks, or "".
[[nodiscard]] std::string missing_on_cuda(const StageVariant& variant);

}  // namespace imgpipe::test
