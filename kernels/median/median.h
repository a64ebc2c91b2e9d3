// median: the median of the samples of the window around a pixel (Tukey, Exploratory Data Analysis, 1977; for
// images: Huang, Yang and Tang, A Fast Two-Dimensional Median Filtering Algorithm, 1979). The edge pixel is
// repeated beyond the border, as in OpenCV's medianBlur().
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr int kMaxMedianRadius = 7;

struct MedianParameters {
  explicit constexpr MedianParameters(const Parameters& values) : radius(static_cast<int>(values[0]) + 1) {}
  int radius;  // of the window: 1 to kMaxMedianRadius
};

// Whether median_cpu() also accepts interleaved RGB: the windows that exchanges sort.
[[nodiscard]] constexpr bool median_rgb_on_cpu(const FrameType& /*in*/, const Parameters& parameters) {
  return MedianParameters(parameters).radius <= 2;
}
// The window's rows, limited to the image.
[[nodiscard]] RowRange median_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, at least 1x1.
void median_reference(const StageCall<Host>& call);

// The same in SIMD. `in` must hold the window's rows of the band, limited to the image.
void median_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus median_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
