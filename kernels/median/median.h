// Median: the middle one of the 9 or 25 samples of the window around a pixel (Tukey, Exploratory Data
// Analysis, 1977; of images: Huang, Yang and Tang, A Fast Two-Dimensional Median Filtering Algorithm, 1979).
// Beyond the border stands the edge pixel, as with OpenCV's medianBlur().
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct MedianParameters {
  explicit constexpr MedianParameters(const Parameters& values) : radius(static_cast<int>(values[0]) + 1) {}
  int radius;  // of the window: 1 or 2
};

// The window's rows, as far as the image has them.
[[nodiscard]] RowRange median_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1.
void median_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the band's rows and the window's above and below, as far as the image has
// them.
void median_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device.
CudaStatus median_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
