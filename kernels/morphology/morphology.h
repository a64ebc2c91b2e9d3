// Erosion and dilation: the least and the greatest sample of the square window around a pixel, clipped to the
// image (Serra, Image Analysis and Mathematical Morphology, 1982).
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] constexpr int window_radius(const Parameters& parameters) {
  return static_cast<int>(parameters[0]);
}
[[nodiscard]] RowRange morphology_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, any size from 1x1.
void erode_reference(const StageCall<Host>& call);
void erode_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus erode_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
void dilate_reference(const StageCall<Host>& call);
void dilate_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus dilate_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
