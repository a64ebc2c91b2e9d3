#include <array>

#include "kernels/channels/channels.h"

namespace imgpipe {
namespace {

template <class T>
void copy_channels(const StageCall<Host>& call) {
  for (int c = 0; c < call.out.type.color_channels; ++c) {
    const auto in = call.in.plane<T>(copied_plane(call.in.type, call.out.type, call.parameters, c));
    const auto out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[x] = in.row(y)[x];
    }
  }
}

}  // namespace

std::string_view rgb_skip_reason(const FrameType& in, const Parameters&) {
  return in.color_channels == 3 && !in.alpha ? "the image is already RGB" : "";
}

std::string_view rgb_infer(const FrameType&, const Parameters&, FrameType& out) {
  out.color_channels = 3;
  out.alpha = false;
  return {};
}

std::string_view channel_skip_reason(const FrameType& in, const Parameters& parameters) {
  return in.channels() == 1 && channel_of(in, parameters) == 0 ? "the image has only this channel" : "";
}

std::string_view channel_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  static constexpr std::array<std::string_view, 4> kChannels{
      "the image has 1 channel, grey", "the image has 2 channels: grey and alpha",
      "the image has 3 channels: r, g and b", "the image has 4 channels: r, g, b and alpha"};
  out.color_channels = 1;
  out.alpha = false;
  return channel_of(in, parameters) < 0 ? kChannels[static_cast<std::size_t>(in.channels() - 1)] : "";
}

void channels_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { copy_channels<T>(call); });
}

}  // namespace imgpipe
