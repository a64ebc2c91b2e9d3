#include "kernels/icc/icc.h"

namespace imgpipe {
namespace {

template <class T>
void convert_to_srgb(const StageCall<Host>& call) {
  const IccHead& head = icc_head(call.parameters);
  const FrameType& type = call.out.type;
  for (std::int64_t y = 0; y < type.height; ++y) {
    const auto sample = [&](std::size_t plane, std::int64_t x) { return call.in.plane<T>(plane).row(y)[x]; };
    for (std::int64_t x = 0; x < type.width; ++x) {
      if (type.alpha) call.out.plane<T>(kAlphaPlane).row(y)[x] = sample(kAlphaPlane, x);
      if (head.rule == IccRule::curve) {
        call.out.plane<T>(0).row(y)[x] = icc_curve<T>(call.table.data)[sample(0, x)];
        continue;
      }
      const T in[4] = {sample(0, x), sample(1, x), sample(2, x),
                       head.inputs == 4 ? sample(kAlphaPlane, x) : T{0}};
      T out[3];
      icc_pixel<T>(head, call.table.data, in, out);
      for (std::size_t c = 0; c < 3; ++c) call.out.plane<T>(c).row(y)[x] = out[c];
    }
  }
}

}  // namespace

std::string_view icc_skip_reason(const FrameType&, const Parameters& parameters) {
  return !has_icc_table(parameters) ? "the image has no ICC profile, or that of sRGB" : "";
}

std::string_view icc_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  if (!has_icc_table(parameters)) return "";
  const int inputs = icc_head(parameters).inputs;
  if (inputs == 4) {
    out.alpha = false;
    return in.color_channels == 3 && in.alpha
               ? ""
               : "the profile is for CMYK; make icc the first step, and leave out --codec stb";
  }
  if (inputs == in.color_channels) return "";
  return inputs == 3 ? "the profile is for RGB, the image is grey; insert icc before gray"
                     : "the profile is for grey, the image has colours; insert icc before rgb";
}

void icc_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { convert_to_srgb<T>(call); });
}

}  // namespace imgpipe
