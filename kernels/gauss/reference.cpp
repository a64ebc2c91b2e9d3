#include "kernels/gauss/reference_rows.h"

namespace imgpipe {
namespace {

template <class T>
void gauss_planes(const StageCall<Host>& call) {
  const GaussParameters parameters(call.parameters);
  const GaussWeights gauss{call.prepared.as<std::uint32_t>(), gauss_radius(parameters.sigma)};
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    gauss_pixels(in, gauss, parameters.border, [&](std::int64_t x, std::int64_t y, std::uint32_t blurred) {
      out.row(y)[x] = static_cast<T>(blurred);
    });
  }
}

}  // namespace

void gauss_reference(const StageCall<Host>& call) {
  gauss_planes<Sample>(call);
}

void gauss16_reference(const StageCall<Host>& call) {
  gauss_planes<Sample16>(call);
}

}  // namespace imgpipe
