// Erosion and dilation: the least and the greatest sample of the square window around a pixel, clipped to the
// image (Serra, Image Analysis and Mathematical Morphology, 1982). Top hats: the image minus its opening (the
// dilation of its erosion), or its closing (the erosion of its dilation) minus the image; never negative.
#pragma once

#include "images/rounded_up.h"
#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] constexpr int window_radius(const Parameters& parameters) {
  return static_cast<int>(parameters[0]);
}
[[nodiscard]] RowRange morphology_needs(const FrameType& in, const Parameters& parameters, RowRange out);

enum class TopHat : std::uint8_t { white, black };
[[nodiscard]] constexpr TopHat top_hat_kind(const Parameters& parameters) {
  return parameters.as<TopHat>(1);
}
[[nodiscard]] RowRange tophat_needs(const FrameType& in, const Parameters& parameters, RowRange out);
// On a device: two frames of the image's colour planes.
[[nodiscard]] constexpr std::int64_t top_hat_stride_bytes(const FrameType& in) {
  return rounded_up(in.width * bytes_per_sample(in.sample), 256);
}
[[nodiscard]] std::int64_t tophat_scratch_bytes(const FrameType& in, const Parameters& parameters);

// Whether erode_cpu() and dilate_cpu() also accept interleaved RGB. 3001x2003, one thread of an EPYC (Zen 4),
// 2026-11-27, RGB and planes with split* and merge*, least of 6 runs: radius 63 17.1 and 22.7 ms (16 bits
// 30.1 and 54.7), 127 47.5 and 40.2 (95 and 81).
[[nodiscard]] constexpr bool morphology_rgb_on_cpu(const FrameType& /*in*/, const Parameters& parameters) {
  return window_radius(parameters) <= 63;
}

// in, out: planar, same shape, any size from 1x1.
void erode_reference(const StageCall<Host>& call);
void erode_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus erode_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
void dilate_reference(const StageCall<Host>& call);
void dilate_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus dilate_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
void tophat_reference(const StageCall<Host>& call);
void tophat_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus tophat_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
