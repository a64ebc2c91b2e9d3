// Threshold: samples above a value become white, all others black (cv2.threshold with THRESH_BINARY and 255,
// or 65535 with 16 bits). Otsu's value (A Threshold Selection Method from Gray-Level Histograms, 1979) parts
// the histogram of a plane into the two classes with the largest between-class variance.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr int kOtsu = -1;
struct ThresholdParameters {
  explicit constexpr ThresholdParameters(const Parameters& values) : at(static_cast<int>(values[0])) {}
  int at;  // or kOtsu
};

// Otsu's value requires the counts of the input frame.
[[nodiscard]] bool threshold_reads_counts(const Parameters& parameters);
// Rejects values that samples of this type cannot have.
[[nodiscard]] std::string_view threshold_infer(const FrameType& in, const Parameters&, FrameType& out);

// ---- Otsu's arithmetic ------------------------------------------------------------------------------
// IEEE doubles, each operation rounded separately, in the order of OpenCV's getThreshVal_Otsu: only these
// roundings decide between values that part a histogram equally well.

#ifdef __CUDA_ARCH__  // nvcc would contract a product and a sum
__device__ inline double rounded_sum(double a, double b) {
  return __dadd_rn(a, b);
}
__device__ inline double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}
#else
IMGPIPE_HOST_DEVICE constexpr double rounded_sum(double a, double b) {
  return a + b;
}
IMGPIPE_HOST_DEVICE constexpr double rounded_product(double a, double b) {
  return a * b;
}
#endif

// The samples from 0 to a value.
struct OtsuClass {
  double share;  // of all samples, 0..1
  double mean;
};
inline constexpr double kMinShare = 0x1p-23;  // FLT_EPSILON: smaller classes are ignored

// Adds the samples of value v, `share` of all, to the class. Returns false if either class is too small.
IMGPIPE_HOST_DEVICE constexpr bool otsu_add(OtsuClass& below, int v, double share) {
  below.mean = rounded_product(below.mean, below.share);
  below.share = rounded_sum(below.share, share);
  const double above = rounded_sum(1, -below.share);
  const double less = below.share < above ? below.share : above;
  const double more = below.share < above ? above : below.share;
  if (less < kMinShare || more > 1 - kMinShare) return false;
  below.mean = rounded_sum(below.mean, rounded_product(v, share)) / below.share;
  return true;
}

// Returns the variance between the class and all other samples; `mean` is the mean of all samples.
IMGPIPE_HOST_DEVICE constexpr double otsu_variance(const OtsuClass& below, double mean) {
  const double above = rounded_sum(1, -below.share);
  const double mean_above = rounded_sum(mean, -rounded_product(below.share, below.mean)) / above;
  const double distance = rounded_sum(below.mean, -mean_above);
  return rounded_product(rounded_product(rounded_product(below.share, above), distance), distance);
}

// ---- the stage --------------------------------------------------------------------------------------

// Returns the threshold of plane c. histogram: the whole image's counts, read only for Otsu's value.
[[nodiscard]] int threshold_of(const ThresholdParameters& parameters, const Histogram<Host>& histogram,
                               int c);

// Otsu's value of each colour plane, as ints. histogram: the counts of the whole image.
[[nodiscard]] std::int64_t threshold_table_bytes(const FrameType& in, const Parameters& parameters);
void threshold_table(const StageCall<Host>& call, const Band& band);
// For 16-bit samples.
CudaStatus threshold_table_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// Methods to compute Otsu's value of 65,536 bins:
//   chosen        from exact sums; falls back to `searched` if roundings could change the value
//   searched      bin by bin; falls back to `by_divisions` if its assumptions fail
//   by_divisions  bin by bin, with a division per bin
//   chosen_only   for tests: like `chosen`, but yields kUndecided instead of falling back
enum class OtsuMethod : std::uint8_t { chosen, searched, by_divisions, chosen_only };
CudaStatus threshold_table_method_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                       OtsuMethod otsu, Clusters method);

// in, out: planar, same shape; histogram: the counts of the whole image `in`, for Otsu's value.
void threshold_reference(const StageCall<Host>& call);

// The same in SIMD; table, for Otsu's value: the output of threshold_table().
void threshold_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device: 8 bits from the histogram, 16 from the table.
CudaStatus threshold_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus threshold16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
