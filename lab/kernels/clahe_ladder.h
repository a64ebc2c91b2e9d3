// The rungs of clahe, in the order of clahe_ladder.cpp. In, out: one grey plane of 8 bits.
#pragma once

#include "kernels/clahe/clahe.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> clahe_ladder();

CudaStatus clahe_naive(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus clahe_block_a_tile(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus clahe_words(const StageCall<Device>& call, const RungLaunch& launch);
// Scratch of all of them: counts and tables of all tiles.
std::size_t clahe_scratch_bytes(const FrameType& shape, const RungLaunch& launch);

}  // namespace imgpipe
