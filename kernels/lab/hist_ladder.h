// The rungs of hist, in the order of hist_ladder.cpp. In: one grey plane (hist_rgb: interleaved RGB); out:
// the counts.
#pragma once

#include "kernels/lab/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> hist_ladder();

// On the processor: add the counts of their part to the histogram.
void hist_private(const StageCall<Host>& call, const Band& band);
void hist_bin_range(const StageCall<Host>& call, const Share& share);

CudaStatus hist_global(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_global_stride(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_global_chunk(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_global_words(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_linear(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_local(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_local_reduced(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_threads_64(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_threads_256(const StageCall<Device>& call, const RungLaunch& launch);
// Scratch of both: the blocks' histograms.
std::size_t hist_threads_64_bytes(const FrameType& shape, const RungLaunch& launch);
std::size_t hist_threads_256_bytes(const FrameType& shape, const RungLaunch& launch);
CudaStatus hist_shared(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_shared_words(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_non_atomic(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_shared_vectors(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_replicated(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_columns(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_rgb(const StageCall<Device>& call, const RungLaunch& launch);

// The yardsticks count in 32 bits, at the beginning of their scratch.
CudaStatus hist_cub(const StageCall<Device>& call, const RungLaunch& launch);
std::size_t hist_cub_bytes(const FrameType& shape, const RungLaunch& launch);
CudaStatus hist_npp(const StageCall<Device>& call, const RungLaunch& launch);
std::size_t hist_npp_bytes(const FrameType& shape, const RungLaunch& launch);
// Brings those counts to the stage's histogram.
CudaStatus hist_collect(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
