#include "kernels/append/append.h"

namespace imgpipe {
namespace {

template <class T>
void append_planes(const StageCall<Host>& call) {
  const int first = call.in.type.channels();  // of the second image's channels
  for (int c = 0; c < call.out.type.channels(); ++c) {
    const Plane<const T, Host> in =
        c < first ? call.in.plane<T>(plane_of_channel(call.in.type, c)) : second_plane<T>(call, c - first);
    const Plane<T, Host> out = call.out.plane<T>(plane_of_channel(call.out.type, c));
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[x] = in.row(y)[x];
    }
  }
}

}  // namespace

std::string_view append_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  static constexpr std::array<std::string_view, 4> kChannels{
      "both images have more than 4 channels, the image 1",
      "both images have more than 4 channels, the image 2",
      "both images have more than 4 channels, the image 3", "the image already has 4 channels"};
  if (parameters.image == nullptr) return "";
  if (in.channels() + parameters.image->type.channels() > 4)
    return kChannels[static_cast<std::size_t>(in.channels() - 1)];
  out = appended(in, parameters.image->type);
  return "";
}

void append_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { append_planes<T>(call); });
}

}  // namespace imgpipe
