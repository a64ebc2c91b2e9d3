// Smoothing: the weighted mean of the 5x5 neighbourhood, rounded once, on the two-dimensional sum. Windows:
// box, triangle (box * box) and the binomial approximation of a Gaussian (1 4 6 4 1). Sums of floats go down
// the columns first, then across, in a fixed order (float_taps.h). Borders: shrink counts only pixels inside
// the image; replicate and reflect supply the missing ones.
#pragma once

#include "kernels/shared/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct SmoothParameters {
  // `first`: the index in `values` of the stage's first parameter.
  explicit constexpr SmoothParameters(const Parameters& values, std::size_t first = 0)
      : window(values.as<Window>(first)), border(values.as<Border>(first + 1)) {}
  Window window;
  Border border;
};

// The window's rows, clipped to the image.
[[nodiscard]] RowRange smooth_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1.
void smooth_reference(const StageCall<Host>& call);
void smooth_f32_reference(const StageCall<Host>& call);

// The same in SIMD; smooth_cpu() also accepts interleaved RGB. `in` holds the band's rows and up to two more
// above and below, clipped to the image.
void smooth_cpu(const StageCall<Host>& call, const Band& band);
void smooth_f32_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus smooth16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus smooth_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

// contrast and smooth in one pass; `histogram` holds the counts of `in`.
CudaStatus contrast_smooth_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
