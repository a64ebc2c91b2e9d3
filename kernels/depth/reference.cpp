#include "kernels/depth/depth.h"

namespace imgpipe {
namespace {

template <class From>
void depth(const StageCall<Host>& call) {
  for (std::size_t i = 0; i < call.in.planes.size(); ++i) {
    const Plane<const From, Host> in = call.in.plane<From>(i);
    const Plane<DepthTo<From>, Host> out = call.out.plane<DepthTo<From>>(i);
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.row_samples(); ++x)
        out.row(y)[x] = converted<DepthTo<From>>(in.row(y)[x]);
    }
  }
}

}  // namespace

std::string_view depth_skip_reason(const FrameType& in, const Parameters& parameters) {
  if (in.sample != depth_wanted(parameters)) return "";
  return is_wide(in.sample) ? "the samples have 16 bits already" : "the samples have 8 bits already";
}

std::string_view depth_infer(const FrameType&, const Parameters& parameters, FrameType& out) {
  out.sample = depth_wanted(parameters);
  return {};
}

void depth_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class From>(From) { depth<From>(call); });
}

}  // namespace imgpipe
