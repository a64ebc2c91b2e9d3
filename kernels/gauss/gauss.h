// The mean of the neighbourhood of a pixel, weighted with a Gauss function: one axis after the other, in
// integers (docs/pixels.md). The weights are whole numbers that sum to 65536, the same on every machine. The
// sums down the columns are rounded to 16 bits (of samples of 8 bits: 8 of them behind the point), those
// along the rows to samples.
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

// in, out: planar, same shape, any size from 1x1; table: what gauss_table() wrote.
void gauss_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the band's rows and those above and below that count, as far as the image has
// them.
void gauss_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus gauss_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
