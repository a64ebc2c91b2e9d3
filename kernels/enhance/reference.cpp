#include "kernels/enhance/enhance.h"

namespace imgpipe {
namespace {

template <class T>
void saturate_pixels(const StageCall<Host>& call) {
  const LumaWeights luma = luma_weights(Luma::bt601);
  const float factor = enhance_factor(call.parameters);
  for (std::int64_t y = 0; y < call.in.type.height; ++y) {
    for (std::int64_t x = 0; x < call.in.type.width; ++x) {
      const auto sample = [&](std::size_t c) { return call.in.plane<T>(c).row(y)[x]; };
      const T grey = luma_of<T>(luma, sample(0), sample(1), sample(2));
      for (std::size_t c = 0; c < 3; ++c)
        call.out.plane<T>(c).row(y)[x] = enhanced<T>(sample(c), grey, factor);
    }
  }
}

}  // namespace

std::string_view brightness_skip_reason(const FrameType&, const Parameters& parameters) {
  return parameters[0] == kDecimalOne ? "a factor of 1 changes nothing" : "";
}

std::string_view saturation_skip_reason(const FrameType& in, const Parameters& parameters) {
  return in.color_channels == 1 ? "the image is grey" : brightness_skip_reason(in, parameters);
}

void brightness_table(const StageCall<Host>& call, const Band&) {
  const float factor = enhance_factor(call.parameters);
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (int v = 0; v <= kLargest<T>; ++v) call.table.as<T>()[v] = enhanced<T>(v, 0, factor);
  });
}

void saturation_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { saturate_pixels<T>(call); });
}

}  // namespace imgpipe
