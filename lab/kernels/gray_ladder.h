// The rungs of gray on a CUDA device, in the order of gray_ladder.cpp. In: interleaved RGB; out: one grey
// plane. Of 8 or 16 bits, but for NPP's.
#pragma once

#include "kernels/gray/gray.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> gray_ladder();
[[nodiscard]] std::span<const Rung> gray16_ladder();

CudaStatus gray_naive(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus gray_coalesced(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus gray_words(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus gray_vectors(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus gray_npp(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
