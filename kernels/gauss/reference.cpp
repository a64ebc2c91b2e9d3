#include "kernels/gauss/gauss.h"
#include "kernels/shared/gauss_reference.h"

namespace imgpipe {
namespace {

template <class T>
void gauss_planes(const StageCall<Host>& call) {
  const GaussParameters parameters(call.parameters);
  const GaussWeights gauss{call.table.as<std::uint32_t>(), gauss_radius(parameters.sigma)};
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    gauss_pixels(in, gauss, parameters.border, [&](std::int64_t x, std::int64_t y, std::uint32_t blurred) {
      out.row(y)[x] = static_cast<T>(blurred);
    });
  }
}

}  // namespace

std::int64_t gauss_table_bytes(const FrameType&, const Parameters& parameters) {
  return gauss_weights_bytes(GaussParameters(parameters).sigma);
}

void gauss_table(const StageCall<Host>& call, const Band&) {
  gauss_weights(GaussParameters(call.parameters).sigma, call.table.as<std::uint32_t>());
}

RowRange gauss_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, gauss_radius(GaussParameters(parameters).sigma), out);
}

void gauss_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { gauss_planes<T>(call); });
}

}  // namespace imgpipe
