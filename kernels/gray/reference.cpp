#include "kernels/gray/gray.h"

namespace imgpipe {
namespace {

template <class T>
void gray(const StageCall<Host>& call) {
  const LumaWeights weights = luma_weights(GrayParameters(call.parameters).luma);
  const Plane<const T, Host> in = call.in.plane<T>(0);
  const Plane<T, Host> grey = call.out.plane<T>(0);
  const Plane<T, Host> alpha = call.out.plane<T>(kAlphaPlane);
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      const T* pixel = in.row(y) + x * in.channels;
      grey.row(y)[x] = luma_of<T>(weights, pixel[0], pixel[1], pixel[2]);
      if (call.in.type.alpha) alpha.row(y)[x] = pixel[3];
    }
  }
}

}  // namespace

std::string_view gray_skip_reason(const FrameType& in, const Parameters&) {
  return in.color_channels == 1 ? "the image is already grey" : "";
}

std::string_view gray_infer(const FrameType&, const Parameters&, FrameType& out) {
  out.color_channels = 1;
  return {};
}

void gray_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { gray<T>(call); });
}

}  // namespace imgpipe
