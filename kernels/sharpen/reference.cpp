#include "kernels/shared/gauss_reference.h"
#include "kernels/sharpen/sharpen.h"

namespace imgpipe {
namespace {

template <class T>
void sharpen_planes(const StageCall<Host>& call) {
  const SharpenParameters mask(call.parameters);
  const GaussWeights gauss{call.table.as<std::uint32_t>(), gauss_radius(mask.sigma)};
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    gauss_pixels(in, gauss, Border::reflect, [&](std::int64_t x, std::int64_t y, std::uint32_t blurred) {
      out.row(y)[x] = static_cast<T>(sharpened<T>(in.row(y)[x], blurred, mask.amount, mask.threshold));
    });
  }
}

}  // namespace

std::string_view sharpen_skip_reason(const FrameType&, const Parameters& parameters) {
  return parameters[0] == 0 ? "an amount of 0 changes nothing" : "";
}

std::int64_t sharpen_table_bytes(const FrameType&, const Parameters& parameters) {
  return gauss_weights_bytes(SharpenParameters(parameters).sigma);
}

void sharpen_table(const StageCall<Host>& call, const Band&) {
  gauss_weights(SharpenParameters(call.parameters).sigma, call.table.as<std::uint32_t>());
}

RowRange sharpen_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, gauss_radius(SharpenParameters(parameters).sigma), out);
}

void sharpen_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { sharpen_planes<T>(call); });
}

}  // namespace imgpipe
