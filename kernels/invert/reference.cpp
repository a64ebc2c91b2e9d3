#include "kernels/invert/invert.h"
#include "kernels/shared/map_floats.h"

namespace imgpipe {
namespace {

template <class T>
void invert(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = static_cast<T>(kLargest<T> - in.row(y)[x]);
    }
  }
}

}  // namespace

void invert_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { invert<T>(call); });
}

void invert_f32_reference(const StageCall<Host>& call) {
  map_floats(call, FloatInvert());
}

}  // namespace imgpipe
