// contrast in SIMD: products in 16-bit lanes for all sample types (stretch_factor.h).
#include "kernels/contrast/contrast.h"
#include "kernels/contrast/stretch_factor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/contrast/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// ---- from 8 bits to 8 -----------------------------------------------------------------------------------

HWY_INLINE V8 stretched_vector(V8 v, const ByteStretchFactor& factor) {
  const D8 d8;
  const D16 d;
  const V16 odd_bytes = hn::Set(d, 0xFF00);
  const auto stretched = [&](V16 e) HWY_ATTR {  // a byte of output above a byte of fraction
    const V16 product = hn::Add(e, hn::MulHigh(e, hn::Set(d, factor.fraction)));
    return hn::Add(product, hn::Set(d, 128));
  };
  const V8 distance = hn::Min(hn::SaturatedSub(v, hn::Set(d8, factor.lo)), hn::Set(d8, factor.span));
  const V16 pairs = hn::BitCast(d, distance);
  const V16 even = stretched(hn::ShiftLeftSame(pairs, 8 + factor.shift));
  const V16 odd = stretched(hn::ShiftLeftSame(hn::And(pairs, odd_bytes), factor.shift));
  return hn::BitCast(d8, hn::Or(hn::ShiftRight<8>(even), hn::And(odd, odd_bytes)));
}

// ---- with 16-bit input or output -------------------------------------------------------------------------

// Returns (d fraction + 2^31 + rest) >> 32, computed from 16-bit halves:
//
//   d upper     high  low
//   d lower           next  last       high + (low + 2^15 + next + (last + rest) / 2^16) / 2^16
//
// low + 2^15 carries if low's top bit is set, and flips that bit. Adding next to the result carries if next
// exceeds 65535 minus the result.
HWY_INLINE V16 stretched_distance(V16 distance, const WideStretchFactor& factor) {
  const D16 d;
  const V16 one = hn::Set(d, 1);
  const V16 upper = hn::Set(d, factor.upper);
  const V16 lower = hn::Set(d, factor.lower);
  const V16 low = hn::Mul(distance, upper);
  const V16 last = hn::Mul(distance, lower);
  const V16 most = hn::Set(d, static_cast<std::uint16_t>(65535 - factor.rest));
  const V16 next = hn::Add(hn::MulHigh(distance, lower), hn::Min(hn::SaturatedSub(last, most), one));
  const V16 headroom = hn::Xor(low, hn::Set(d, 0x7FFF));
  const V16 carry = hn::Min(hn::SaturatedSub(next, headroom), one);
  return hn::Add(hn::Add(hn::MulHigh(distance, upper), hn::ShiftRight<15>(low)), carry);
}

template <class To>
HWY_INLINE V16 stretched_vector(V16 v, const WideStretchFactor& factor) {
  const D16 d;
  const V16 within = hn::Min(hn::SaturatedSub(v, hn::Set(d, factor.lo)), hn::Set(d, factor.span));
  const V16 distance = hn::ShiftLeftSame(within, factor.shift);
  const V16 part = stretched_distance(distance, factor);
  if constexpr (kIsWide<To>) return hn::Add(distance, part);  // the factor's integer part is 1
  return part;
}

// -----------------------------------------------------------------------------------------------------------

template <class From, class To>
void stretch_plane(const StageCall<Host>& call, const Band& band, std::size_t i, const StretchRange& range) {
  if (range.hi <= range.lo) {
    convert_plane<From, To>(call, band, i);
  } else if constexpr (!kIsWide<From> && !kIsWide<To>) {
    const ByteStretchFactor factor = byte_stretch_factor(range.lo, range.hi);
    map_plane<From, To>(call, band, i, [factor](V8 v) HWY_ATTR { return stretched_vector(v, factor); });
  } else {
    // Captured as numbers, so that the loop keeps them in registers: stores of samples may alias a structure.
    const WideStretchFactor f = wide_stretch_factor<To>(range.lo, range.hi);
    map_plane<From, To>(call, band, i,
                        [lo = f.lo, span = f.span, shift = f.shift, upper = f.upper, lower = f.lower,
                         rest = f.rest](V16 v) HWY_ATTR {
                          return stretched_vector<To>(v, {lo, span, shift, upper, lower, rest});
                        });
  }
}

template <class From, class To>
void stretch_planes(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c)
    stretch_plane<From, To>(call, band, static_cast<std::size_t>(c), call.table.as<StretchRange>()[c]);
  if (call.in.type.alpha) convert_plane<From, To>(call, band, kAlphaPlane);
}

void contrast_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class From>(From) HWY_ATTR {
    visit_sample(call.out.type.sample, [&]<class To>(To) HWY_ATTR { stretch_planes<From, To>(call, band); });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(contrast)
#endif
