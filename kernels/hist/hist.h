// hist: counts the samples of each colour plane by value, or floats in equal bins. Alpha is not counted.
//
// Floats have limits, the parameters. The row of a plane (counters_of() of kernels/frame.h) holds the samples
// below lo, those of the bins, those above hi, and NaN. Edges are doubles. A float v is at or above an edge
// exactly if it is at or above the least float that is, so kernels compare floats.
#pragma once

#include "kernels/hist/float_bins.h"
#include "kernels/pixel.h"
#include "kernels/shared/count_samples.h"
#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] FloatBins hist_bins(const Parameters& parameters);
// Returns why the limits are invalid; empty: valid.
[[nodiscard]] std::string_view hist_problem(const Parameters& parameters);
// Rejects limits for integers, which are counted by value.
[[nodiscard]] std::string_view hist_infer(const FrameType& in, const Parameters& parameters, FrameType& out);

// in: planar; histogram: bins() x color_channels, overwritten. The counts of a plane sum to its pixels.
void hist_reference(const StageCall<Host>& call);
// Counts only the least and the greatest sample of the band, once each, with which contrast without clipping
// finds the same range.
void hist_extremes_cpu(const StageCall<Host>& call, const Band& band);

// Sets the counts of every colour plane to 0; the kernels add to them.
CudaStatus clear_histogram(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// Strategies for counting 16-bit samples.
struct Hist16Strategy {
  int parts = 1;          // a block counts 1/parts of the values: 1, 2 or 4, as shared memory allows
  bool clusters = false;  // two blocks combine their counts; 1 part, compute capability 9.0 and later
};
CudaStatus hist16_strategy_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                const Hist16Strategy& method);

// The thresholds of the counters, in ascending order: the least floats at or above the edges, then the least
// one above hi. NaN fill the table to a power of two less one.
inline constexpr int kThresholds = 2 * kFloatBins - 1;
[[nodiscard]] std::int64_t hist_table_bytes(const FrameType& in, const Parameters& parameters);
void hist_table(const StageCall<Host>& call, const Band& band);

// Returns the position in a row of the count of v: the number of thresholds up to v, or the last for NaN.
IMGPIPE_HOST_DEVICE inline int float_counter(const float* thresholds, float v) {
  if (v != v) return kFloatBins + 2;
  int passed = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int step = kFloatBins; step > 0; step /= 2) passed += v >= thresholds[passed + step - 1] ? step : 0;
  return passed;
}

void hist_f32_reference(const StageCall<Host>& call);
// Adds the counts of the band's rows to `histogram`.
void hist_f32_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus hist_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
