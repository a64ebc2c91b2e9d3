#include <algorithm>
#include <cstddef>
#include <cstring>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/codecs/jpeg/reconstruct.h"
#include "images/luma.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/rgb_row.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "images/luma-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
// Rows may be read kSampleMargin bytes beyond their ends, so vectors must not be longer.
using D8 = hn::CappedTag<std::uint8_t, kSampleMargin>;
using D16 = hn::RepartitionToWide<hn::Repartition<std::int8_t, D8>>;
using D32 = hn::RepartitionToWide<D16>;
using DUnsigned16 = hn::RebindToUnsigned<D16>;
using DHalf8 = hn::Rebind<std::uint8_t, D16>;
using DHalf16 = hn::Half<D16>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using VUnsigned16 = hn::Vec<DUnsigned16>;

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
  const DUnsigned16 unsigned_d;
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

// The channels of a vector of pixels, 0 to 255.
struct Rgb {
  VUnsigned16 red, green, blue;
};

// `luma`: samples plus kLeast.
HWY_INLINE Rgb rgb_of(V16 luma, const Colours& more) {
  const DUnsigned16 d;
  const auto cut = [&](V16 v) HWY_ATTR {
    return hn::SaturatedSub(hn::BitCast(d, hn::SaturatedAdd(luma, v)), hn::Set(d, kLeast));
  };
  return {cut(more.red), cut(more.green), cut(more.blue)};
}

// ---- what a row holds -------------------------------------------------------------------------------

struct RgbPixels {
  static constexpr std::int64_t kBytes = 3;

  HWY_INLINE void store(const Rgb& even, const Rgb& odd, std::uint8_t* to) const {
    const auto joined = [](VUnsigned16 a, VUnsigned16 b)
                            HWY_ATTR { return hn::BitCast(D8(), hn::Or(a, hn::ShiftLeft<8>(b))); };
    hn::StoreInterleaved3(joined(even.red, odd.red), joined(even.green, odd.green),
                          joined(even.blue, odd.blue), D8(), to);
  }
  void store(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint8_t* to) const {
    to[0] = red;
    to[1] = green;
    to[2] = blue;
  }
};

class GreyPixels {
 public:
  static constexpr std::int64_t kBytes = 1;
  explicit GreyPixels(Luma luma) : luma_(luma), weights_(split_weights(luma)) {}

  HWY_INLINE void store(const Rgb& even, const Rgb& odd, std::uint8_t* to) const {
    const DUnsigned16 d;
    const auto sum = [&](const Rgb& of) HWY_ATTR { return luma_sum(d, weights_, of.red, of.green, of.blue); };
    const auto joined = hn::Or(hn::ShiftRight<8>(sum(even)), hn::AndNot(hn::Set(d, 0xFF), sum(odd)));
    hn::StoreU(hn::BitCast(D8(), joined), D8(), to);
  }
  void store(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint8_t* to) const {
    *to = luma_of(luma_weights(luma_), red, green, blue);
  }

 private:
  Luma luma_;
  SplitWeights weights_;
};

template <class Pixels>
HWY_INLINE void write_pixels(const Pixels& pixels, const std::uint8_t* y, const EvenOdd& cb,
                             const EvenOdd& cr, std::uint8_t* to) {
  const EvenOdd luma = split(y);
  const auto rgb = [](V16 v, const Colours& more) HWY_ATTR { return rgb_of(hn::Or(v, set(kLeast)), more); };
  pixels.store(rgb(luma.even, colours_of(cb.even, cr.even)), rgb(luma.odd, colours_of(cb.odd, cr.odd)), to);
}

// Calls write(x, y, to) for each vector of pixels, with their luma at y. Buffers a partial last vector.
template <class Pixels, class Write>
HWY_INLINE void for_each_vector(const std::uint8_t* y, std::int64_t width, std::uint8_t* out,
                                const Write& write) {
  constexpr std::int64_t kBytes = Pixels::kBytes;
  std::int64_t x = 0;
  for (; x + kPixels <= width; x += kPixels) write(x, y + x, out + kBytes * x);
  if (x == width) return;
  const auto rest = static_cast<std::size_t>(width - x);
  HWY_ALIGN std::uint8_t last[kPixels] = {};
  HWY_ALIGN std::uint8_t pixels[kBytes * kPixels];
  std::memcpy(last, y + x, rest);
  write(x, last, pixels);
  std::memcpy(out + kBytes * x, pixels, kBytes * rest);
}

template <Sampling kSampling, class Pixels>
void write_row(const Pixels& pixels, const SampleRows& rows, std::int64_t width, std::uint8_t* out) {
  const auto write = [&](std::int64_t x, const std::uint8_t* y, std::uint8_t* to) HWY_ATTR {
    const std::int64_t far = kSampling == Sampling::s440 ? x : 0;
    write_pixels(pixels, y, colour_of<kSampling>(rows.cb_near + x, rows.cb_far + far, rows.lower),
                 colour_of<kSampling>(rows.cr_near + x, rows.cr_far + far, rows.lower), to);
  };
  for_each_vector<Pixels>(rows.y, width, out, write);
}

template <Sampling kSampling, class Pixels>
void write_row_in_pieces(const Pixels& pixels, const SampleRows& rows, std::int64_t width,
                         std::uint8_t* out) {
  RowSegment cb;
  RowSegment cr;
  const auto write = [&](std::int64_t x, const std::uint8_t* y, std::uint8_t* to) HWY_ATTR {
    write_pixels(pixels, y, colour_of<kSampling>(cb, x / 2), colour_of<kSampling>(cr, x / 2), to);
  };
  for (std::int64_t begin = 0; begin < width; begin += kSegmentPixels) {
    const std::int64_t count = std::min(kSegmentPixels, width - begin);
    fill_segment<kSampling>(rows.cb_near, rows.cb_far, begin / 2, count, cb);
    fill_segment<kSampling>(rows.cr_near, rows.cr_far, begin / 2, count, cr);
    for_each_vector<Pixels>(rows.y + begin, count, out + Pixels::kBytes * begin, write);
  }
}

// For colour planes that are too narrow to interpolate.
template <class Pixels>
void write_repeated(const Pixels& pixels, const SampleRows& rows, std::int64_t width, std::uint8_t* out) {
  for (std::int64_t x = 0; x < width; ++x, out += Pixels::kBytes) {
    const int cb = rows.cb_near[x / 2];
    const int cr = rows.cr_near[x / 2];
    pixels.store(red_of(rows.y[x], cr), green_of(rows.y[x], cb, cr), blue_of(rows.y[x], cb), out);
  }
}

template <class Pixels>
void write(const Pixels& pixels, Sampling sampling, const SampleRows& rows, std::int64_t width,
           std::uint8_t* out) {
  const bool half_as_wide = sampling == Sampling::s422 || sampling == Sampling::s420;
  if (half_as_wide && (width + 1) / 2 <= kMaxRepeatedWidth) return write_repeated(pixels, rows, width, out);
  switch (sampling) {
    case Sampling::s422:
      return write_row_in_pieces<Sampling::s422>(pixels, rows, width, out);
    case Sampling::s420:
      return write_row_in_pieces<Sampling::s420>(pixels, rows, width, out);
    case Sampling::s440:
      return write_row<Sampling::s440>(pixels, rows, width, out);
    case Sampling::s444:
    case Sampling::grey:
      return write_row<Sampling::s444>(pixels, rows, width, out);
  }
}

void rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  write(RgbPixels(), sampling, rows, width, rgb);
}

void grey_row(Luma luma, Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* grey) {
  write(GreyPixels(luma), sampling, rows, width, grey);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(rgb_row);
HWY_EXPORT(grey_row);

void make_rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(rgb_row)(sampling, rows, width, rgb);
}

void make_grey_row(Luma luma, Sampling sampling, const SampleRows& rows, std::int64_t width,
                   std::uint8_t* grey) {
  HWY_DYNAMIC_DISPATCH(grey_row)(luma, sampling, rows, width, grey);
}

void fill_edges(std::uint8_t* row, std::int64_t width) {
  std::fill_n(row - kSampleMargin, kSampleMargin, row[0]);
  std::fill_n(row + width, kSampleMargin, row[width - 1]);
}

}  // namespace imgpipe
#endif
