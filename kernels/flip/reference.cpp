#include "kernels/flip/flip.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {
namespace {

template <class T>
void flip_plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, FlipDirection direction) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    const T* from = in.row(direction == FlipDirection::vertical ? mirrored(y, in.height) : y);
    for (std::int64_t x = 0; x < out.width; ++x) {
      const std::int64_t from_x = direction == FlipDirection::horizontal ? mirrored(x, in.width) : x;
      for (int c = 0; c < out.channels; ++c)
        out.row(y)[x * out.channels + c] = from[from_x * in.channels + c];
    }
  }
}

template <class T>
void flip_planes(const StageCall<Host>& call) {
  for (int i = 0; i < moved_planes(call.in.type); ++i) {
    const std::size_t plane = plane_of_channel(call.in.type, i);
    flip_plane<T>(call.in.plane<T>(plane), call.out.plane<T>(plane),
                  FlipParameters(call.parameters).direction);
  }
}

}  // namespace

bool flip_needs_all_rows(const Parameters& parameters) {
  return FlipParameters(parameters).direction == FlipDirection::vertical;
}

void flip_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { flip_planes<T>(call); });
}

}  // namespace imgpipe
