// Histogram equalisation: each value becomes the fraction of samples that are not above it, scaled to the
// range of samples (Gonzalez and Woods, Digital Image Processing, 3.3.1). Each colour plane uses its own
// histogram. Follows OpenCV's equalizeHist(), including every rounding (docs/pixels.md).
#pragma once

#include "kernels/shared/equalization.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// Sets `table` to the results of all values of type T. counts: one counter per value, not all 0. The least
// value that occurs, and all values below it, become 0; if only one value occurs, all are unchanged.
template <class T>
void equalize_table(const std::uint64_t* counts, T* table);

// The tables of all colour planes, one after the other. histogram: the counts of the whole image.
[[nodiscard]] std::int64_t equalize_table_bytes(const FrameType& in, const Parameters& parameters);
void equalize_tables(const StageCall<Host>& call, const Band& band);
// Make the tables of 16-bit samples on a CUDA device.
CudaStatus equalize_tables_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus equalize_tables_clusters_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                         Clusters method);

// in, out: planar, same shape; histogram: the counts of the whole image `in`.
void equalize_reference(const StageCall<Host>& call);

// The same in SIMD; table: the output of equalize_tables().
void equalize_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device. equalize_cuda() handles 8 bits and reads the histogram; equalize16_cuda()
// handles 16 bits and reads the table.
CudaStatus equalize_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus equalize16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
