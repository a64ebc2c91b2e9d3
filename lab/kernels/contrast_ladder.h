// The rungs of contrast on a CUDA device, in the order of contrast_ladder.cpp. In, out: one grey plane;
// histogram: the counts of `in`. Of 8 or 16 bits.
#pragma once

#include "kernels/contrast/contrast.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> contrast_ladder();
[[nodiscard]] std::span<const Rung> contrast16_ladder();

// Shared memory of the table of 16-bit samples.
inline constexpr int kContrastTableBytes = 65536 * 2;

CudaStatus contrast_naive(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus contrast_coalesced(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus contrast_words(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus contrast_branch_free(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus contrast_table(const StageCall<Device>& call, const RungLaunch& launch);
// Scratch of all of them: lo and hi.
std::size_t contrast_range_bytes(const FrameType& shape, const RungLaunch& launch);

}  // namespace imgpipe
