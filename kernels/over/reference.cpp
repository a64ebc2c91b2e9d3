#include "kernels/over/over.h"

namespace imgpipe {
namespace {

template <class T>
void compose(const StageCall<Host>& call) {
  const FrameType& type = call.in.type;
  const Plane<const T, Host> none{}, alphas = second_alpha_plane<T>(call);
  const Plane<const T, Host> below = type.alpha ? call.in.plane<T>(kAlphaPlane) : none;
  const std::int64_t opacity = OverParameters(call.parameters).opacity;
  const Overlay at = overlay_of(type, call.parameters.image->type, call.parameters);
  for (int c = 0; c < type.channels(); ++c) {
    const bool is_alpha = c == type.color_channels;
    const Plane<const T, Host> in = call.in.plane<T>(plane_of_channel(type, c));
    const Plane<T, Host> out = call.out.plane<T>(plane_of_channel(type, c));
    const Plane<const T, Host> second = is_alpha ? none : second_color_plane<T>(call, c);
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        const T v = in.row(y)[x];
        T& result = out.row(y)[x];
        if (x < at.first_x || x >= at.end_x || y < at.first_y || y >= at.end_y) {
          result = v;
          continue;
        }
        const auto sample = [&](const Plane<const T, Host>& plane) {
          return plane.empty() ? T{kLargest<T>} : plane.row(y - at.top)[x - at.left];
        };
        const T alpha = with_opacity<T>(sample(alphas), opacity);
        result = type.alpha && !is_alpha ? over_translucent<T>(sample(second), alpha, v, below.row(y)[x])
                                         : over<T>(sample(second), alpha, v);
      }
    }
  }
}

}  // namespace

std::string_view over_skip_reason(const FrameType&, const Parameters& parameters) {
  return OverParameters(parameters).opacity == 0 ? "an opacity of 0 changes nothing" : "";
}

void over_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { compose<T>(call); });
}

}  // namespace imgpipe
