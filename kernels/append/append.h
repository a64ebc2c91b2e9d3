// Appends the channels of a second image of the same size to those of the image, up to four: grey and alpha,
// RGB, RGBA. Channels count in the order of files, alpha being the last: grey, alpha and one more are R, G
// and B.
#pragma once

#include <array>

#include "kernels/second_image.h"

namespace imgpipe {

// Returns `type` with the channels of `second` appended; as many as the planes of a frame at most.
[[nodiscard]] constexpr FrameType appended(FrameType type, const FrameType& second) {
  const int channels = type.channels() + second.channels();
  type.color_channels = channels < 3 ? 1 : 3;
  type.alpha = channels % 2 == 0;
  return type;
}
static_assert(appended({.color_channels = 1}, {.color_channels = 1}).channels() == 2);
static_assert(appended({.color_channels = 1, .alpha = true}, {.color_channels = 1}).channels() == 3);
static_assert(appended({.color_channels = 1, .alpha = true}, {.color_channels = 1}).color_channels == 3);
static_assert(appended({.color_channels = 1}, {.color_channels = 3}).channels() == 4);

// Both images have four channels at most together.
[[nodiscard]] std::string_view append_infer(const FrameType& in, const Parameters& parameters,
                                            FrameType& out);

// in, out: planar, any sample type.
void append_reference(const StageCall<Host>& call);

void append_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus append_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
