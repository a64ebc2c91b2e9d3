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
// Rows may be read kSampleMargin bytes beyond their ends, so vectors must not be longer.
using D8 = hn::CappedTag<std::uint8_t, kSampleMargin>;
using D16 = hn::RepartitionToWide<hn::Repartition<std::int8_t, D8>>;
using D32 = hn::RepartitionToWide<D16>;
using DHalf8 = hn::Rebind<std::uint8_t, D16>;
using DHalf16 = hn::Half<D16>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

constexpr std::int64_t kPixels = hn::MaxLanes(D8());  // pixels in a vector of bytes
constexpr std::int64_t kHalf = kPixels / 2;

// The pixels of a vector of bytes, by even and odd position.
struct EvenOdd {
  V16 even, odd;
};

HWY_INLINE V16 set(int v) {
  return hn::Set(D16(), static_cast<std::int16_t>(v));
}

HWY_INLINE EvenOdd split(const std::uint8_t* from) {
  const hn::RebindToUnsigned<D16> unsigned_d;
  const auto both = hn::BitCast(unsigned_d, hn::LoadU(D8(), from));
  return {hn::BitCast(D16(), hn::And(both, hn::Set(unsigned_d, 0xFF))),
          hn::BitCast(D16(), hn::ShiftRight<8>(both))};
}

HWY_INLINE V16 widened(const std::uint8_t* from) {
  return hn::PromoteTo(D16(), hn::LoadU(DHalf8(), from));
}

HWY_INLINE V16 tripled(V16 v) {
  return hn::Mul(v, set(3));
}

// v / 2^kShift, rounded half up.
template <int kShift>
HWY_INLINE V16 shifted(V16 v) {
  return hn::MulFixedPoint15(v, set(1 << (15 - kShift)));
}

// ---- upsampling -------------------------------------------------------------------------------------

// Chunks of a row that stay in the L1 cache.
constexpr std::int64_t kSegmentPixels = 1024;

// Samples of a plane with half the columns, minus 128: from one row, or as weighted sums of two rows, with
// the fractional bits of such sums. Includes one more sample at either end, and space for whole vectors.
struct RowSegment {
  alignas(64) std::int16_t v[kSegmentPixels / 2 + 2 + 2 * kHalf];
};

// Fills the chunk for `pixels` pixels, starting with the sample before `at`.
template <Sampling kSampling>
HWY_INLINE void fill_segment(const std::uint8_t* near, const std::uint8_t* far, std::int64_t at,
                             std::int64_t pixels, RowSegment& chunk) {
  const D16 d;
  const std::int64_t count = (pixels + 1) / 2 + 2;
  for (std::int64_t i = 0; i < count; i += kHalf) {
    V16 v = widened(near + at - 1 + i);
    if constexpr (kSampling == Sampling::s420) {
      v = hn::Sub(hn::Add(tripled(v), widened(far + at - 1 + i)), set(4 * 128));
    } else {
      v = hn::Sub(v, set(128));
    }
    hn::Store(v, d, chunk.v + i);
  }
}

// Returns the colour of a vector of pixels, minus 128, from sample i of a chunk on.
template <Sampling kSampling>
HWY_INLINE EvenOdd colour_of(const RowSegment& chunk, std::int64_t i) {
  const D16 d;
  const V16 before = hn::Load(d, chunk.v + i);
  const V16 a = tripled(hn::LoadU(d, chunk.v + i + 1));
  const V16 after = hn::LoadU(d, chunk.v + i + 2);
  const V16 one = set(1);
  if constexpr (kSampling == Sampling::s420) {
    return {shifted<4>(hn::Add(a, before)), shifted<4>(hn::Sub(hn::Add(a, after), one))};
  } else {
    return {shifted<2>(hn::Sub(hn::Add(a, before), one)), shifted<2>(hn::Add(a, after))};
  }
}

// Returns the colour of a vector of pixels, minus 128, for planes with all columns.
template <Sampling kSampling>
HWY_INLINE EvenOdd colour_of(const std::uint8_t* near, const std::uint8_t* far, bool lower) {
  const EvenOdd a = split(near);
  if constexpr (kSampling == Sampling::s440) {
    const EvenOdd b = split(far);
    const V16 less = set(4 * 128 + (lower ? 0 : 1));
    return {shifted<2>(hn::Sub(hn::Add(tripled(a.even), b.even), less)),
            shifted<2>(hn::Sub(hn::Add(tripled(a.odd), b.odd), less))};
  } else {
    return {hn::Sub(a.even, set(128)), hn::Sub(a.odd, set(128))};
  }
}

// ---- colour -----------------------------------------------------------------------------------------

// Returns (-11277 Cb - 23401 Cr + 16384) >> 15; takes twice Cb and Cr.
HWY_INLINE V16 green_part(V16 cb, V16 cr) {
  const D16 d;
  const D32 d32;
  const auto round = hn::Set(d32, 32768);
#if HWY_ARCH_X86
  const auto factors =
      static_cast<std::uint32_t>(-23401) << 16 | (static_cast<std::uint32_t>(-11277) & 0xFFFF);
  const V16 by = hn::BitCast(d, hn::Set(d32, static_cast<std::int32_t>(factors)));
  const auto sum = [&](V16 pairs) HWY_ATTR {
    auto sum1 = hn::Zero(d32);
    const auto sum0 = hn::ReorderWidenMulAccumulate(d32, pairs, by, round, sum1);
    return hn::ShiftRight<16>(hn::Add(sum0, sum1));
  };
  return hn::ReorderDemote2To(d, sum(hn::InterleaveLower(d, cb, cr)), sum(hn::InterleaveUpper(d, cb, cr)));
#else
  const DHalf16 half;
  const auto sum = [&](auto b, auto r) HWY_ATTR {
    const auto products = hn::Add(hn::Mul(hn::PromoteTo(d32, r), hn::Set(d32, -23401)),
                                  hn::Mul(hn::PromoteTo(d32, b), hn::Set(d32, -11277)));
    return hn::DemoteTo(half, hn::ShiftRight<16>(hn::Add(products, round)));
  };
  return hn::Combine(d, sum(hn::UpperHalf(half, cb), hn::UpperHalf(half, cr)),
                     sum(hn::LowerHalf(half, cb), hn::LowerHalf(half, cr)));
#endif
}

struct Colours {
  V16 red, green, blue;
};

// Returns the amounts to add to Y. The products have 16 bits, 15 of them fractional, rounded half up. For
// every Cb and Cr they equal those of the longer factors of red_of() and blue_of().
HWY_INLINE Colours colours_of(V16 cb, V16 cr) {
  const V16 cb2 = hn::Add(cb, cb);
  const V16 cr2 = hn::Add(cr, cr);
  return {hn::MulFixedPoint15(cr2, set(22971)), green_part(cb2, cr2), hn::MulFixedPoint15(cb2, set(29033))};
}

// Sums saturate at the 16-bit maximum, which is 255 above this value.
constexpr int kLeast = 0x7F00;

// Returns the sums of luma (plus kLeast) and the colour's part, as bytes.
HWY_INLINE V8 joined(const EvenOdd& luma, V16 even, V16 odd) {
  const hn::RebindToUnsigned<D16> unsigned_d;
  const auto cut = [&](V16 y, V16 v) HWY_ATTR {
    const auto sum = hn::BitCast(unsigned_d, hn::SaturatedAdd(y, v));
    return hn::SaturatedSub(sum, hn::Set(unsigned_d, kLeast));
  };
  return hn::BitCast(D8(), hn::Or(cut(luma.even, even), hn::ShiftLeft<8>(cut(luma.odd, odd))));
}

HWY_INLINE void write_pixels(const std::uint8_t* y, const EvenOdd& cb, const EvenOdd& cr, std::uint8_t* rgb) {
  EvenOdd luma = split(y);
  luma.even = hn::Or(luma.even, set(kLeast));
  luma.odd = hn::Or(luma.odd, set(kLeast));
  const Colours even = colours_of(cb.even, cr.even);
  const Colours odd = colours_of(cb.odd, cr.odd);
  hn::StoreInterleaved3(joined(luma, even.red, odd.red), joined(luma, even.green, odd.green),
                        joined(luma, even.blue, odd.blue), D8(), rgb);
}

// Calls write(x, y, rgb) for each vector of pixels, with their luma at y. Buffers a partial last vector.
template <class Write>
HWY_INLINE void for_each_vector(const std::uint8_t* y, std::int64_t width, std::uint8_t* rgb,
                                const Write& write) {
  std::int64_t x = 0;
  for (; x + kPixels <= width; x += kPixels) write(x, y + x, rgb + 3 * x);
  if (x == width) return;
  const auto rest = static_cast<std::size_t>(width - x);
  HWY_ALIGN std::uint8_t last[kPixels] = {};
  HWY_ALIGN std::uint8_t pixels[3 * kPixels];
  std::memcpy(last, y + x, rest);
  write(x, last, pixels);
  std::memcpy(rgb + 3 * x, pixels, 3 * rest);
}

template <Sampling kSampling>
void write_row(const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  for_each_vector(rows.y, width, rgb, [&](std::int64_t x, const std::uint8_t* y, std::uint8_t* to) HWY_ATTR {
    const std::int64_t far = kSampling == Sampling::s440 ? x : 0;
    write_pixels(y, colour_of<kSampling>(rows.cb_near + x, rows.cb_far + far, rows.lower),
                 colour_of<kSampling>(rows.cr_near + x, rows.cr_far + far, rows.lower), to);
  });
}

template <Sampling kSampling>
void write_row_in_pieces(const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  RowSegment cb;
  RowSegment cr;
  for (std::int64_t begin = 0; begin < width; begin += kSegmentPixels) {
    const std::int64_t pixels = std::min(kSegmentPixels, width - begin);
    fill_segment<kSampling>(rows.cb_near, rows.cb_far, begin / 2, pixels, cb);
    fill_segment<kSampling>(rows.cr_near, rows.cr_far, begin / 2, pixels, cr);
    for_each_vector(rows.y + begin, pixels, rgb + 3 * begin,
                    [&](std::int64_t x, const std::uint8_t* y, std::uint8_t* to) HWY_ATTR {
                      write_pixels(y, colour_of<kSampling>(cb, x / 2), colour_of<kSampling>(cr, x / 2), to);
                    });
  }
}

// For colour planes that are too narrow to interpolate.
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
  if (half_as_wide && (width + 1) / 2 <= kMaxRepeatedWidth) return write_repeated(rows, width, rgb);
  switch (sampling) {
    case Sampling::s422:
      return write_row_in_pieces<Sampling::s422>(rows, width, rgb);
    case Sampling::s420:
      return write_row_in_pieces<Sampling::s420>(rows, width, rgb);
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
