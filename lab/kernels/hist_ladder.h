// The rungs of hist, in the order of hist_ladder.cpp. In: one grey plane (hist_rgb: interleaved RGB); out:
// the counts.
#pragma once

#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> hist_ladder();
[[nodiscard]] std::span<const Rung> hist16_ladder();

// Of 8 or 16 bits.
CudaStatus hist_global(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist_global_stride(const StageCall<Device>& call, const RungLaunch& launch);

// Of 16 bits. The last three take shared memory, so many bytes a block.
inline constexpr int kHalfBinsBytes = 32768 * 4;
CudaStatus hist16_warp(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist16_passes(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist16_cluster(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus hist16_packed(const StageCall<Device>& call, const RungLaunch& launch);

// Of 8 bits.
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

// The yardsticks count in 32 bits, at the beginning of their scratch. CUB's takes both types of samples.
CudaStatus hist_cub(const StageCall<Device>& call, const RungLaunch& launch);
std::size_t hist_cub_bytes(const FrameType& shape, const RungLaunch& launch);
CudaStatus hist_npp(const StageCall<Device>& call, const RungLaunch& launch);
std::size_t hist_npp_bytes(const FrameType& shape, const RungLaunch& launch);
// Brings those counts to the stage's histogram.
CudaStatus hist_collect(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
