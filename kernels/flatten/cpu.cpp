#include "kernels/flatten/flatten.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/flatten/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/over-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void flatten_row(const T* in, const T* alpha, T background, std::int64_t width, T* out) {
  using P = Pairs<T>;
  const typename P::Samples d;
  const auto ground = hn::Set(typename P::D(), typename P::Sum{background});
  const auto vector = [&](std::int64_t x) HWY_ATTR {
    const auto v = hn::LoadU(d, in + x), a = hn::LoadU(d, alpha + x);
    const auto even = over_pairs<T>(P::even(v), P::even(a), ground);
    const auto odd = over_pairs<T>(P::odd(v), P::odd(a), ground);
    hn::StoreU(P::joined(even, odd), d, out + x);
  };
  for_row(width, lanes_of(d), vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) out[x] = over<T>(in[x], alpha[x], background);
  });
}

template <class T>
void flatten_planes(const StageCall<Host>& call, const Band& band) {
  const auto alpha = call.in.plane<T>(kAlphaPlane);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto in = call.in.plane<T>(static_cast<std::size_t>(c));
    const auto out = call.out.plane<T>(static_cast<std::size_t>(c));
    const T background = color_sample<T>(call.parameters[0], call.in.type, c);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      flatten_row<T>(in.row(y - band.in_top), alpha.row(y - band.in_top), background, in.width,
                     out.row(y - band.out_top));
    }
  }
}

void flatten_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { flatten_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(flatten)
#endif
