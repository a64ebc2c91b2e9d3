// The rungs of smooth on a CUDA device, in the order of smooth_ladder.cpp: the box with Border::shrink. In,
// out: one grey plane, of 8 bits, or 16 with the first three.
#pragma once

#include "kernels/smooth/smooth.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> smooth_ladder();
[[nodiscard]] std::span<const Rung> smooth16_ladder();

CudaStatus smooth_naive(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus smooth_tile(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus smooth_specialised(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus smooth_separable(const StageCall<Device>& call, const RungLaunch& launch);
// Scratch: the horizontal sums.
std::size_t smooth_separable_bytes(const FrameType& shape, const RungLaunch& launch);
CudaStatus smooth_npp(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
