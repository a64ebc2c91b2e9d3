#include "kernels/invert/invert.h"

namespace imgpipe {

void invert_reference(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
    const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        out.row(y)[x] = static_cast<Sample>(kMaxSample - in.row(y)[x]);
      }
    }
  }
}

}  // namespace imgpipe
