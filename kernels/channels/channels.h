// Stages that copy colour planes. rgb: grey becomes three equal planes, and alpha is dropped (Pillow's
// convert("RGB")). channel: one channel as a grey image.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// Values of the parameter of `channel`: from 1, or a letter.
inline constexpr std::int64_t kRedChannel = -1, kBlueChannel = -3, kAlphaChannel = -4;

// Returns the channel of `type` that the parameter names, from 0, alpha being the last; -1 if it has none.
[[nodiscard]] constexpr int channel_of(const FrameType& type, const Parameters& parameters) {
  const std::int64_t channel = parameters[0];
  if (channel == kAlphaChannel) return type.alpha ? type.color_channels : -1;
  if (channel < 0) return type.color_channels == 3 ? static_cast<int>(kRedChannel - channel) : -1;
  return channel <= type.channels() ? static_cast<int>(channel - 1) : -1;
}
static_assert(channel_of({.color_channels = 3}, {{kBlueChannel}}) == 2);
static_assert(channel_of({.color_channels = 1, .alpha = true}, {{kAlphaChannel}}) == 1);
static_assert(channel_of({.color_channels = 1, .alpha = true}, {{3}}) == -1);

// Returns the input plane that plane c of the output copies.
[[nodiscard]] constexpr std::size_t copied_plane(const FrameType& in, const FrameType& out,
                                                 const Parameters& parameters, int c) {
  if (out.color_channels == 1) return plane_of_channel(in, channel_of(in, parameters));
  return in.color_channels == 1 ? 0 : static_cast<std::size_t>(c);
}

// Skips RGB without alpha.
[[nodiscard]] std::string_view rgb_skip_reason(const FrameType& in, const Parameters&);
[[nodiscard]] std::string_view rgb_infer(const FrameType& in, const Parameters&, FrameType& out);

// Skips the only channel of an image.
[[nodiscard]] std::string_view channel_skip_reason(const FrameType& in, const Parameters& parameters);
// The image must have the channel.
[[nodiscard]] std::string_view channel_infer(const FrameType& in, const Parameters&, FrameType& out);

// The kernels of both stages. in, out: planar, any sample type; out: one plane or three, without alpha.
void channels_reference(const StageCall<Host>& call);

void channels_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus channels_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
