#include "kernels/gray/gray.h"

namespace imgpipe {

void gray_reference(const StageCall<Host>& call) {
  const LumaWeights weights = luma_weights(call.options.luma);
  const ConstHostPlane& in = call.in.planes[0];
  const HostPlane& grey = call.out.planes[0];
  const HostPlane& alpha = call.out.planes[kAlphaPlane];
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      const Sample* pixel = in.row(y) + x * in.channels;
      grey.row(y)[x] = luma_of(weights, pixel[0], pixel[1], pixel[2]);
      if (call.in.shape.alpha) alpha.row(y)[x] = pixel[3];
    }
  }
}

}  // namespace imgpipe
