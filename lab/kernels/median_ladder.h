// The rungs of median, in the order of median_ladder.cpp: 3x3 and 5x5 windows, by the call's parameters. In,
// out: one grey plane of 8 bits.
#pragma once

#include "kernels/median/median.h"
#include "lab/kernels/rung.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> median_ladder();

// On the processor, for the rows of a band, of an input that is there as a whole.
void median_insertion(const StageCall<Host>& call, const Band& band);
void median_select(const StageCall<Host>& call, const Band& band);
void median_exchanges(const StageCall<Host>& call, const Band& band);
void median_sliding(const StageCall<Host>& call, const Band& band);
void median_constant_time(const StageCall<Host>& call, const Band& band);

CudaStatus median_naive(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus median_tile(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus median_forgetful(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus median_network(const StageCall<Device>& call, const RungLaunch& launch);
// With grids of their own.
CudaStatus median_columns(const StageCall<Device>& call, const RungLaunch& launch);
CudaStatus median_bytes(const StageCall<Device>& call, const RungLaunch& launch);

}  // namespace imgpipe
