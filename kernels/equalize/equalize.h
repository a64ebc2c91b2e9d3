// Histogram equalisation: each value becomes the share of samples that are not above it (Gonzalez and Woods,
// Digital Image Processing, 3.3.1), each colour plane by its own histogram. Follows OpenCV's equalizeHist(),
// including every rounding (docs/pixels.md).
#pragma once

#include "kernels/shared/equalization.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// Sets `table` to the results of all values of type T. counts: one counter per value, not all 0. Values below
// the first that occurs become 0; if only one value occurs, all are unchanged.
template <class T>
void equalize_table(const std::uint64_t* counts, T* table);

// The tables of all colour planes, one after the other. histogram: the counts of the whole image.
[[nodiscard]] std::int64_t equalize_table_bytes(const FrameType& in, const Parameters& parameters);
void equalize_tables(const StageCall<Host>& call, const Band& band);
// For 16 bits.
CudaStatus equalize_tables_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus equalize_tables_clusters_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                         Clusters method);

// in, out: planar, same shape; histogram: the counts of the whole image `in`.
void equalize_reference(const StageCall<Host>& call);

// The same in SIMD; table: the output of equalize_tables().
void equalize_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device: 8 bits from the histogram, 16 from the table.
CudaStatus equalize_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus equalize16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
