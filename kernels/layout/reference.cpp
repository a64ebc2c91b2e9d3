#include "kernels/layout/layout.h"

namespace imgpipe {
namespace {

// The plane that holds channel c of an interleaved pixel: alpha comes last there and in planes[3] here.
std::size_t plane_of(int c, const FrameShape& shape) {
  return shape.alpha && c == shape.color_channels ? kAlphaPlane : static_cast<std::size_t>(c);
}

}  // namespace

void split_reference(const StageCall<Host>& call) {
  const ConstHostPlane& in = call.in.planes[0];
  for (int c = 0; c < in.channels; ++c) {
    const HostPlane& out = call.out.planes[plane_of(c, call.in.shape)];
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = in.row(y)[x * in.channels + c];
    }
  }
}

void merge_reference(const StageCall<Host>& call) {
  const HostPlane& out = call.out.planes[0];
  for (int c = 0; c < out.channels; ++c) {
    const ConstHostPlane& in = call.in.planes[plane_of(c, call.in.shape)];
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[x * out.channels + c] = in.row(y)[x];
    }
  }
}

}  // namespace imgpipe
