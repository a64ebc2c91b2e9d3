#include "kernels/layout/layout.h"

namespace imgpipe {

void split_reference(const StageCall<Host>& call) {
  const ConstHostPlane in = call.in.plane<Sample>(0);
  for (int c = 0; c < in.channels; ++c) {
    const HostPlane out = call.out.plane<Sample>(plane_of_channel(call.in.type, c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = in.row(y)[x * in.channels + c];
    }
  }
}

void merge_reference(const StageCall<Host>& call) {
  const HostPlane out = call.out.plane<Sample>(0);
  for (int c = 0; c < out.channels; ++c) {
    const ConstHostPlane in = call.in.plane<Sample>(plane_of_channel(call.in.type, c));
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[x * out.channels + c] = in.row(y)[x];
    }
  }
}

}  // namespace imgpipe
