// gamma of floats in SIMD: all lanes execute every step of kernels/gamma/power.h.
#include "kernels/gamma/gamma.h"
#include "kernels/gamma/power.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gamma/cpu_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

using DWhole = hn::RebindToSigned<DFloat>;
using VWhole = hn::Vec<DWhole>;

// terms[0] + x (terms[1] + x (...)), with each product and sum rounded separately.
template <std::size_t Count>
HWY_INLINE VFloat polynomial(VFloat x, const float (&terms)[Count]) {
  const DFloat d;
  VFloat sum = hn::Set(d, terms[Count - 1]);
  for (std::size_t i = Count - 1; i-- > 0;) sum = hn::Add(hn::Set(d, terms[i]), hn::Mul(x, sum));
  return sum;
}

HWY_INLINE VFloat powers_of_two(VWhole n) {
  const DWhole d;
  return hn::BitCast(DFloat(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(d, 127))));
}

HWY_INLINE VFloat to_whole(VFloat v) {
  const VFloat round = hn::Set(DFloat(), kWholeRound);
  return hn::Sub(hn::Add(v, round), round);
}

// For positive, finite values; the result for others is unspecified.
HWY_INLINE VFloat powers(VFloat v, const GammaExponent& by) {
  const DFloat d;
  const DWhole whole_d;
  const VFloat one = hn::Set(d, 1.0F);
  const auto is_small = hn::Lt(v, hn::Set(d, kMinNormal));
  const VWhole bits = hn::BitCast(whole_d, hn::IfThenElse(is_small, hn::Mul(v, hn::Set(d, kToNormal)), v));
  const VWhole doublings =
      hn::ShiftRight<23>(hn::Sub(bits, hn::Set(whole_d, static_cast<std::int32_t>(kRootOfHalfBits))));
  const VFloat m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(doublings)));
  const VFloat normal = hn::IfThenElse(is_small, hn::Set(d, kToNormalDoublings), hn::Zero(d));
  const VFloat k = hn::Sub(hn::ConvertTo(d, doublings), normal);
  const VFloat s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const VFloat log = hn::Mul(s, polynomial(hn::Mul(s, s), gamma_terms().log));
  const VFloat product = hn::Mul(k, hn::Set(d, by.high));
  const VFloat whole_product = to_whole(product);
  const VFloat rest = hn::Add(hn::Sub(product, whole_product),
                              hn::Add(hn::Mul(k, hn::Set(d, by.low)), hn::Mul(log, hn::Set(d, by.exponent))));
  const VFloat whole_rest = to_whole(rest);
  const VFloat r = hn::Sub(rest, whole_rest);
  const VFloat power = hn::Add(one, hn::Mul(r, polynomial(r, gamma_terms().power)));
  const VFloat least = hn::Set(d, kMinDoublings);
  const VFloat most = hn::Set(d, kMaxDoublings);
  VFloat whole = hn::Add(whole_product, whole_rest);
  whole = hn::IfThenElse(hn::Gt(whole, least), whole, least);
  whole = hn::IfThenElse(hn::Lt(whole, most), whole, most);
  const VWhole n = hn::ConvertTo(whole_d, whole);
  const VWhole half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(power, powers_of_two(half)), powers_of_two(hn::Sub(n, half)));
}

void gamma_f32_rows(const StageCall<Host>& call, const Band& band) {
  const GammaExponent by = GammaExponent::of(call.parameters[0]);
  map_color_planes<float>(call, band, [by](VFloat v) HWY_ATTR {
    const DFloat d;
    const VFloat magnitude = hn::Abs(v);
    const VFloat power = hn::CopySign(powers(magnitude, by), v);
    const auto stays = hn::Or(hn::Eq(magnitude, hn::Zero(d)), hn::Eq(magnitude, hn::Set(d, kInfinity)));
    const VFloat result = hn::IfThenElse(stays, v, power);
    return hn::IfThenElse(hn::IsNaN(v), canonical(v), result);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(gamma_f32)
#endif
