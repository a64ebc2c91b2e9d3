// The rungs of equalize, in the order of equalize_ladder.cpp. In, out: one grey plane of 8 bits; histogram:
// the counts of `in`.
#pragma once

#include "kernels/equalize/equalize.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> equalize_ladder();

CudaStatus equalize_division(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_serial_table(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_scan_table(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_constant(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_shared(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_vectors(const StageCall<Device>& call, const RungLaunch& launch);
// Scratch of all of them: what the first kernel leaves for the second.
std::size_t equalize_scratch_bytes(const FrameType& shape, const RungLaunch& launch);

// These count `in` themselves: they do the work of hist as well.
CudaStatus equalize_counted(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus equalize_cooperative(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
