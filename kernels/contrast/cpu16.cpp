// contrast in SIMD where samples of 16 bits come in or go out. With d = min(max(v - lo, 0), span) and white w
// the result is floor(w d / span + 1/2) = floor((w d + span / 2) / span), span / 2 rounded down, and 32 bits
// hold the dividend.
#include "kernels/contrast/contrast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/contrast/cpu16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

#ifndef IMGPIPE_CONTRAST_STRETCH_DIVISOR
#define IMGPIPE_CONTRAST_STRETCH_DIVISOR
namespace imgpipe {
namespace {

struct StretchDivisor {
  std::uint32_t lo, span;
  float factor;  // w / span
};

constexpr StretchDivisor stretch_divisor(const StretchRange& range, int white) {
  const int span = range.hi - range.lo;
  return {static_cast<std::uint32_t>(range.lo), static_cast<std::uint32_t>(span),
          static_cast<float>(white) / static_cast<float>(span)};
}

// The floats of w d / span + 1/2 are off by less than 65536 * 3 * 2^-24 < 1/64: the factor, the product and
// the sum are each rounded once. With so much less than a half added they are below the quotient, by less
// than 1.
constexpr float kStretchRound = 0.5F - 1.0F / 64;

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::Repartition<std::uint32_t, D16>;
using V32 = hn::Vec<D32>;

// The quotient by floats, which is right or 1 too small, and then by what is left over.
template <class To>
HWY_INLINE V32 stretched_distance(V32 distance, const StretchDivisor& by) {
  const D32 d;
  const hn::Repartition<float, D32> df;
  const hn::Repartition<std::int32_t, D32> ds;
  constexpr int kBits = 8 * sizeof(To);
  const V32 divided = hn::Add(hn::Sub(hn::ShiftLeft<kBits>(distance), distance), hn::Set(d, by.span / 2));
  const auto near = hn::MulAdd(hn::ConvertTo(df, hn::BitCast(ds, distance)), hn::Set(df, by.factor),
                               hn::Set(df, kStretchRound));
  const V32 below = hn::BitCast(d, hn::ConvertTo(ds, near));
  const V32 span = hn::Set(d, by.span);
  const auto rest = hn::BitCast(ds, hn::Sub(divided, hn::Mul(below, span)));
  const auto more = hn::VecFromMask(ds, hn::Gt(rest, hn::Set(ds, static_cast<std::int32_t>(by.span - 1))));
  return hn::Sub(below, hn::BitCast(d, more));
}

template <class To>
HWY_INLINE V16 stretched_vector(V16 v, const StretchDivisor& by) {
  const D16 d16;
  const D32 d32;
  const V16 low = hn::Set(d16, static_cast<std::uint16_t>(by.lo));
  const V16 span = hn::Set(d16, static_cast<std::uint16_t>(by.span));
  const V32 pairs = hn::BitCast(d32, hn::Min(hn::SaturatedSub(v, low), span));
  const V32 even = stretched_distance<To>(hn::And(pairs, hn::Set(d32, 0xFFFF)), by);
  const V32 odd = stretched_distance<To>(hn::ShiftRight<16>(pairs), by);
  return hn::BitCast(d16, hn::Or(even, hn::ShiftLeft<16>(odd)));
}

template <class From, class To>
void stretch_planes(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const StretchRange range = stretch_range(call, c);
    const auto plane = static_cast<std::size_t>(c);
    if (range.hi > range.lo) {
      const StretchDivisor by = stretch_divisor(range, kLargest<To>);
      map_plane16<From, To>(call, band, plane, [&](V16 v) HWY_ATTR { return stretched_vector<To>(v, by); });
    } else {
      convert_plane<From, To>(call, band, plane);
    }
  }
  if (call.in.type.alpha) convert_plane<From, To>(call, band, kAlphaPlane);
}

void contrast8_to16_rows(const StageCall<Host>& call, const Band& band) {
  stretch_planes<Sample, Sample16>(call, band);
}

void contrast16_to8_rows(const StageCall<Host>& call, const Band& band) {
  stretch_planes<Sample16, Sample>(call, band);
}

void contrast16_rows(const StageCall<Host>& call, const Band& band) {
  stretch_planes<Sample16, Sample16>(call, band);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(contrast8_to16_rows);
HWY_EXPORT(contrast16_to8_rows);
HWY_EXPORT(contrast16_rows);

void contrast_cpu_to16(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(contrast8_to16_rows)(call, band);
}

void contrast16_cpu(const StageCall<Host>& call, const Band& band) {
  if (call.out.type.sample == SampleType::u16) {
    HWY_DYNAMIC_DISPATCH(contrast16_rows)(call, band);
  } else {
    HWY_DYNAMIC_DISPATCH(contrast16_to8_rows)(call, band);
  }
}

}  // namespace imgpipe
#endif
