#include "kernels/over/over.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/over/cpu.cpp"
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/over-inl.h"
#include "kernels/shared/quotients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void over_row(const T* in, const T* second, const T* alpha, std::int64_t width, T* out) {
  using P = Pairs<T>;
  const typename P::Samples d;
  const auto vector = [&](std::int64_t x) HWY_ATTR {
    const auto v = hn::LoadU(d, in + x), s = hn::LoadU(d, second + x), a = hn::LoadU(d, alpha + x);
    const auto even = over_pairs<T>(P::even(s), P::even(a), P::even(v));
    const auto odd = over_pairs<T>(P::odd(s), P::odd(a), P::odd(v));
    hn::StoreU(P::joined(even, odd), d, out + x);
  };
  for_row(width, lanes_of(d), vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) out[x] = over<T>(second[x], alpha[x], in[x]);
  });
}

// The arithmetic of over_translucent(). Sums are below 2^50, so all but the quotient is exact, and a quotient
// that is not an integer is further away from one than the division's rounding error.
template <class T>
void over_translucent_row(const T* in, const T* below, const T* second, const T* alpha, std::int64_t width,
                          T* out) {
  const DDouble d;
  const VDouble white = hn::Set(d, kLargest<T>);
  const auto vector = [&](std::int64_t x) HWY_ATTR {
    const VDouble a = Quotients::load(alpha + x), v = Quotients::load(in + x);
    const VDouble upper = hn::Mul(white, a), lower = hn::Mul(Quotients::load(below + x), hn::Sub(white, a));
    const VDouble sum = hn::Add(upper, lower);
    const VDouble half = hn::Add(hn::Mul(Quotients::load(second + x), upper), hn::Mul(v, lower));
    const VDouble quotient = hn::Div(hn::Add(hn::Add(half, half), sum), hn::Add(sum, sum));
    Quotients::store(hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), v, hn::Floor(quotient)), out + x);
  };
  for_row(width, lanes_of(d), vector, [&] {
    for (std::int64_t x = 0; x < width; ++x)
      out[x] = over_translucent<T>(second[x], alpha[x], in[x], below[x]);
  });
}

template <class T>
void over_planes(const StageCall<Host>& call, const Band& band) {
  const FrameType& type = call.in.type;
  const Overlay at = overlay_of(type, call.parameters.image->type, call.parameters);
  const std::int64_t opacity = OverParameters(call.parameters).opacity;
  const Plane<const T, Host> alphas = second_alpha_plane<T>(call);
  const std::int64_t width = std::max<std::int64_t>(at.end_x - at.first_x, 0);
  const std::vector<T> white(static_cast<std::size_t>(width), kLargest<T>);
  std::vector<T> alpha(white.size(), with_opacity<T>(kLargest<T>, opacity));
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const bool inside = width > 0 && y >= at.first_y && y < at.end_y;
    if (inside && !alphas.empty()) {
      const T* const from = alphas.row(y - at.top) + at.first_x - at.left;
      for (std::size_t x = 0; x < alpha.size(); ++x) alpha[x] = with_opacity<T>(from[x], opacity);
    }
    for (int c = 0; c < type.channels(); ++c) {
      const std::size_t plane = plane_of_channel(type, c);
      const T* const in = call.in.plane<T>(plane).row(y - band.in_top);
      T* const out = call.out.plane<T>(plane).row(y - band.out_top);
      if (!inside) {
        std::copy_n(in, type.width, out);
        continue;
      }
      std::copy_n(in, at.first_x, out);
      std::copy(in + at.end_x, in + type.width, out + at.end_x);
      const T* const v = in + at.first_x;
      T* const to = out + at.first_x;
      if (c == type.color_channels) {
        over_row(v, white.data(), alpha.data(), width, to);
        continue;
      }
      const T* const second = second_color_plane<T>(call, c).row(y - at.top) + at.first_x - at.left;
      if (type.alpha) {
        const T* const below = call.in.plane<T>(kAlphaPlane).row(y - band.in_top) + at.first_x;
        over_translucent_row(v, below, second, alpha.data(), width, to);
      } else {
        over_row(v, second, alpha.data(), width, to);
      }
    }
  }
}

void over_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { over_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(over)
#endif
