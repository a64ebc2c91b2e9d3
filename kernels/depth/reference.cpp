#include "kernels/depth/depth.h"

namespace imgpipe {
namespace {

template <class From, class To>
void depth(const StageCall<Host>& call) {
  for (std::size_t i = 0; i < call.in.planes.size(); ++i) {
    const Plane<const From, Host> in = call.in.plane<From>(i);
    const Plane<To, Host> out = call.out.plane<To>(i);
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.row_samples(); ++x) out.row(y)[x] = converted<To>(in.row(y)[x]);
    }
  }
}

}  // namespace

std::string_view depth_skip_reason(const FrameType& in, const Parameters& parameters) {
  if (in.sample != depth_wanted(parameters)) return "";
  switch (in.sample) {
    case Sample::u8:
      return "the samples already have 8 bits";
    case Sample::u16:
      return "the samples already have 16 bits";
    case Sample::f32:
      return "the samples are already floats";
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}

std::string_view depth_infer(const FrameType&, const Parameters& parameters, FrameType& out) {
  out.sample = depth_wanted(parameters);
  return {};
}

void depth_reference(const StageCall<Host>& call) {
  visit_depth(call, [&]<class From, class To>(From, To) { depth<From, To>(call); });
}

}  // namespace imgpipe
