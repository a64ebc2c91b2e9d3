// The mean of a pixel's neighbourhood, weighted with a Gaussian function: first down the columns, then along
// the rows, in integers (docs/pixels.md). The weights are whole numbers that sum to 65536, the same on every
// machine. Sums down the columns are rounded to 16 bits (for 8-bit samples, with 8 fractional bits); sums
// along the rows are rounded to samples.
#pragma once

#include "kernels/shared/gauss_weights.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct GaussParameters {
  explicit constexpr GaussParameters(const Parameters& values)
      : sigma(values[0]), border(values[1] == 0 ? Border::reflect : Border::replicate) {}
  std::int64_t sigma;  // in millionths
  Border border;
};

[[nodiscard]] std::int64_t gauss_table_bytes(const FrameType& in, const Parameters& parameters);
void gauss_table(const StageCall<Host>& call, const Band& band);
[[nodiscard]] RowRange gauss_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1; table: the output of gauss_table().
void gauss_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the band's rows and those that gauss_needs() adds.
void gauss_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus gauss_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
