#include <utility>

#include "kernels/rotate/rotate.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {
namespace {

template <class T>
void rotate_plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, RotateAngle angle) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      const PixelPosition from = rotated_from(angle, in.width, in.height, {x, y});
      for (int c = 0; c < out.channels; ++c)
        out.row(y)[x * out.channels + c] = in.row(from.y)[from.x * in.channels + c];
    }
  }
}

template <class T>
void rotate_planes(const StageCall<Host>& call) {
  for (int i = 0; i < moved_planes(call.in.type); ++i) {
    const std::size_t plane = plane_of_channel(call.in.type, i);
    rotate_plane<T>(call.in.plane<T>(plane), call.out.plane<T>(plane),
                    RotateParameters(call.parameters).angle);
  }
}

}  // namespace

std::string_view rotate_infer(const FrameType&, const Parameters& parameters, FrameType& out) {
  if (RotateParameters(parameters).angle != RotateAngle::by_180) std::swap(out.width, out.height);
  return {};
}

void rotate_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { rotate_planes<T>(call); });
}

}  // namespace imgpipe
