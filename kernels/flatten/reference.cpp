#include "kernels/flatten/flatten.h"

namespace imgpipe {
namespace {

template <class T>
void flatten(const StageCall<Host>& call) {
  const auto alpha = call.in.plane<T>(kAlphaPlane);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto in = call.in.plane<T>(static_cast<std::size_t>(c));
    const auto out = call.out.plane<T>(static_cast<std::size_t>(c));
    const T background = color_sample<T>(call.parameters[0], call.in.type, c);
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x)
        out.row(y)[x] = over<T>(in.row(y)[x], alpha.row(y)[x], background);
    }
  }
}

}  // namespace

std::string_view flatten_problem(const Parameters& parameters) {
  return color_byte(parameters[0], 3) == kMaxSample ? "" : "color must be opaque";
}

std::string_view flatten_skip_reason(const FrameType& in, const Parameters&) {
  return in.alpha ? "" : "the image has no alpha";
}

std::string_view flatten_infer(const FrameType&, const Parameters&, FrameType& out) {
  out.alpha = false;
  return {};
}

void flatten_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { flatten<T>(call); });
}

}  // namespace imgpipe
