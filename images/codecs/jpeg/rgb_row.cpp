#include <algorithm>
#include <cstddef>
#include <cstring>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/codecs/jpeg/reconstruct.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/rgb_row.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
// Rows may be read a margin beyond their ends, so vectors must not be longer.
using D8 = hn::CappedTag<std::uint8_t, kSampleMargin>;
using D16 = hn::RepartitionToWide<hn::Repartition<std::int8_t, D8>>;
using D32 = hn::RepartitionToWide<D16>;
using DHalf8 = hn::Rebind<std::uint8_t, D16>;
using DHalf16 = hn::Half<D16>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

// Of the pixels of a vector of bytes: those in even places and those in odd ones.
struct EvenOdd {
  V16 even, odd;
};

HWY_INLINE EvenOdd split(const std::uint8_t* from) {
  const D16 d;
  const V16 both = hn::BitCast(d, hn::LoadU(D8(), from));
  const hn::Repartition<std::uint16_t, D8> unsigned_d;
  return {hn::And(both, hn::Set(d, 0xFF)), hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(unsigned_d, both)))};
}

HWY_INLINE V16 widened(const std::uint8_t* from) {
  return hn::PromoteTo(D16(), hn::LoadU(DHalf8(), from));
}

HWY_INLINE V16 tripled(V16 v) {
  return hn::Add(hn::Add(v, v), v);
}

HWY_INLINE V16 sums(const std::uint8_t* near, const std::uint8_t* far) {
  return hn::Add(tripled(widened(near)), widened(far));
}

// (v + bias) / 2^kShift - 128: samples of colour without their offset.
template <int kShift>
HWY_INLINE V16 centred(V16 v, int bias) {
  return hn::ShiftRight<kShift>(
      hn::Add(v, hn::Set(D16(), static_cast<std::int16_t>(bias - (128 << kShift)))));
}

// The colour of the pixels from x on, less 128.
template <Sampling kSampling>
HWY_INLINE EvenOdd colour(const std::uint8_t* near, const std::uint8_t* far, bool lower, std::int64_t x) {
  if constexpr (kSampling == Sampling::s422) {
    const std::uint8_t* const at = near + x / 2;
    const V16 a = tripled(widened(at));
    return {centred<2>(hn::Add(a, widened(at - 1)), 1), centred<2>(hn::Add(a, widened(at + 1)), 2)};
  } else if constexpr (kSampling == Sampling::s420) {
    const std::uint8_t* const n = near + x / 2;
    const std::uint8_t* const f = far + x / 2;
    const V16 a = tripled(sums(n, f));
    return {centred<4>(hn::Add(a, sums(n - 1, f - 1)), 8), centred<4>(hn::Add(a, sums(n + 1, f + 1)), 7)};
  } else if constexpr (kSampling == Sampling::s440) {
    const EvenOdd a = split(near + x);
    const EvenOdd b = split(far + x);
    const int bias = lower ? 2 : 1;
    return {centred<2>(hn::Add(tripled(a.even), b.even), bias),
            centred<2>(hn::Add(tripled(a.odd), b.odd), bias)};
  } else {
    const EvenOdd a = split(near + x);
    return {centred<0>(a.even, 0), centred<0>(a.odd, 0)};
  }
}

// (-22554 Cb + 18734 Cr + 32768) >> 16: 0.344 Cb + 0.714 Cr less one Cr, which leaves factors of 16 bits.
HWY_INLINE V16 green_part(V16 cb, V16 cr) {
  const D16 d;
  const D32 d32;
  const auto round = hn::Set(d32, 32768);
#if HWY_ARCH_X86
  const V16 by = hn::BitCast(d, hn::Set(d32, static_cast<std::int32_t>(18734U << 16 | (-22554 & 0xFFFF))));
  const auto sum = [&](V16 pairs) HWY_ATTR {
    auto sum1 = hn::Zero(d32);
    const auto sum0 = hn::ReorderWidenMulAccumulate(d32, pairs, by, round, sum1);
    return hn::ShiftRight<16>(hn::Add(sum0, sum1));
  };
  return hn::ReorderDemote2To(d, sum(hn::InterleaveLower(d, cb, cr)), sum(hn::InterleaveUpper(d, cb, cr)));
#else
  const DHalf16 half;
  const auto sum = [&](auto b, auto r) HWY_ATTR {
    const auto products = hn::Sub(hn::Mul(hn::PromoteTo(d32, r), hn::Set(d32, 18734)),
                                  hn::Mul(hn::PromoteTo(d32, b), hn::Set(d32, 22554)));
    return hn::DemoteTo(half, hn::ShiftRight<16>(hn::Add(products, round)));
  };
  return hn::Combine(d, sum(hn::UpperHalf(half, cb), hn::UpperHalf(half, cr)),
                     sum(hn::LowerHalf(half, cb), hn::LowerHalf(half, cr)));
#endif
}

// v * factor / 2^15, rounded half up.
HWY_INLINE V16 times(V16 v, int factor) {
  return hn::MulFixedPoint15(v, hn::Set(D16(), static_cast<std::int16_t>(factor)));
}

struct Colours {
  V16 red, green, blue;
};

// red_of(), green_of() and blue_of() without the saturation. Colour less 128. 13173 / 2^15 rounds every Cr as
// 26345 / 2^16 does.
HWY_INLINE Colours colours_of(V16 y, V16 cb, V16 cr) {
  return {hn::Add(hn::Add(y, cr), times(cr, 13173)), hn::Add(hn::Sub(y, cr), green_part(cb, cr)),
          hn::Add(hn::Add(y, hn::Add(cb, cb)), times(cb, -7471))};
}

HWY_INLINE V8 joined(V16 even, V16 odd) {
  const D16 d;
  const V16 least = hn::Zero(d);
  const V16 most = hn::Set(d, 255);
  const V16 first = hn::Min(hn::Max(even, least), most);
  const V16 second = hn::Min(hn::Max(odd, least), most);
  return hn::BitCast(D8(), hn::Or(first, hn::ShiftLeft<8>(second)));
}

// A vector of pixels, the luma of which stands at y.
template <Sampling kSampling>
HWY_INLINE void write_pixels(const SampleRows& rows, const std::uint8_t* y, std::int64_t x,
                             std::uint8_t* rgb) {
  const EvenOdd luma = split(y);
  const EvenOdd cb = colour<kSampling>(rows.cb_near, rows.cb_far, rows.lower, x);
  const EvenOdd cr = colour<kSampling>(rows.cr_near, rows.cr_far, rows.lower, x);
  const Colours even = colours_of(luma.even, cb.even, cr.even);
  const Colours odd = colours_of(luma.odd, cb.odd, cr.odd);
  hn::StoreInterleaved3(joined(even.red, odd.red), joined(even.green, odd.green), joined(even.blue, odd.blue),
                        D8(), rgb);
}

template <Sampling kSampling>
void write_row(const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  const D8 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) write_pixels<kSampling>(rows, rows.y + x, x, rgb + 3 * x);
  if (x == width) return;
  const auto rest = static_cast<std::size_t>(width - x);
  HWY_ALIGN std::uint8_t y[hn::MaxLanes(d)] = {};
  HWY_ALIGN std::uint8_t pixels[3 * hn::MaxLanes(d)];
  std::memcpy(y, rows.y + x, rest);
  write_pixels<kSampling>(rows, y, x, pixels);
  std::memcpy(rgb + 3 * x, pixels, 3 * rest);
}

// Where the colour planes are too narrow to be interpolated.
void write_repeated(const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  for (std::int64_t x = 0; x < width; ++x, rgb += 3) {
    const int cb = rows.cb_near[x / 2];
    const int cr = rows.cr_near[x / 2];
    rgb[0] = red_of(rows.y[x], cr);
    rgb[1] = green_of(rows.y[x], cb, cr);
    rgb[2] = blue_of(rows.y[x], cb);
  }
}

void rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  const bool half_as_wide = sampling == Sampling::s422 || sampling == Sampling::s420;
  if (half_as_wide && (width + 1) / 2 <= kMostRepeated) return write_repeated(rows, width, rgb);
  switch (sampling) {
    case Sampling::s422:
      return write_row<Sampling::s422>(rows, width, rgb);
    case Sampling::s420:
      return write_row<Sampling::s420>(rows, width, rgb);
    case Sampling::s440:
      return write_row<Sampling::s440>(rows, width, rgb);
    case Sampling::s444:
    case Sampling::grey:
      return write_row<Sampling::s444>(rows, width, rgb);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(rgb_row);

void make_rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(rgb_row)(sampling, rows, width, rgb);
}

void fill_edges(std::uint8_t* row, std::int64_t width) {
  std::fill_n(row - kSampleMargin, kSampleMargin, row[0]);
  std::fill_n(row + width, kSampleMargin, row[width - 1]);
}

}  // namespace imgpipe
#endif
