// smooth in SIMD: 25 taps as five along columns, then five along the row, 16 bits a sum (at most 255 * 256).
//
// Even and odd columns are kept apart from the load to the store, so that bytes become words, and words
// bytes, without changing lanes. For chunks of kChunk columns:
//
//   bytes    c0 c1 c2 c3 c4 c5 ...       five rows
//   even[]   s(-2)  s0  s2  s4 ...       sums along columns
//   odd[]    s(-1)  s1  s3  s5 ...
//   column 2i      even[i-1] odd[i-1] even[i] odd[i] even[i+1]
//   column 2i+1    odd[i-1] even[i] odd[i] even[i+1] odd[i+1]
//
// replicate and reflect make up the sums of the two columns beyond either end. With shrink those are zero,
// rows beyond the image too, and the two outermost columns are divided by what they hold, one by one.
//
// One thread of a Xeon (Sapphire Rapids), AVX3, 47 MP, 2026-11-20: 8.5 ms (out of the caches 6.4); without
// the prefetch of the next row 12.5; chunks of 2048 columns 10.0, of 1024 14.5.
#include <algorithm>
#include <cstring>

#include "kernels/smooth/smooth.h"
#include "kernels/smooth/window_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/smooth/cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_SMOOTH_DIVISOR
#define IMGPIPE_SMOOTH_DIVISOR
namespace imgpipe {
namespace {

// Columns at a time: the sums of a chunk take 16 KiB and stay in the first cache.
constexpr std::int64_t kChunk = 4096;
// Bytes that a chunk's rows are read and written in: columns, two more on either side, rounded up to any
// vector.
constexpr std::size_t kChunkRoom = kChunk + 2 * kRadius + 256;

// (sum + add) * factor >> 16 >> shift is weighted_mean(sum, weights) for every sum there can be.
struct Divisor {
  std::uint16_t add = 0;
  std::uint16_t factor = 0;
  int shift = 0;
};

// Division by a constant (Granlund and Montgomery, 1994): the factor is 2^k / weights rounded up, or, where
// that needs more than 16 bits, rounded down and the dividend raised by one.
constexpr Divisor divisor_of(std::uint32_t weights) {
  const std::uint32_t most = 255 * weights + weights / 2;
  for (int shift = 0; shift < 9; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << (16 + shift);
    const std::uint64_t down = power / weights;
    const std::uint64_t over = (down + 1) * weights - power;
    const std::uint64_t under = power - down * weights;
    if (under == 0 && down < 65536)
      return {static_cast<std::uint16_t>(weights / 2), static_cast<std::uint16_t>(down), shift};
    if (over * most < power && down + 1 < 65536)
      return {static_cast<std::uint16_t>(weights / 2), static_cast<std::uint16_t>(down + 1), shift};
    if ((most + 1) * under <= power && down < 65536)
      return {static_cast<std::uint16_t>(weights / 2 + 1), static_cast<std::uint16_t>(down), shift};
  }
  return {};
}

constexpr bool divides(std::uint32_t weights) {
  const Divisor d = divisor_of(weights);
  for (const std::uint32_t mean : {0U, 1U, 2U, 127U, 128U, 254U, 255U}) {
    for (const std::uint32_t off : {0U, 1U}) {  // around the place where it rounds up
      const std::uint32_t sum = mean * weights + (weights + 1) / 2 - 1 + off;
      if (sum > 255 * weights) continue;
      if ((((sum + d.add) & 0xFFFF) * d.factor >> 16 >> d.shift) != weighted_mean(sum, weights)) return false;
    }
  }
  return d.factor != 0;
}

// Every number of weights that a row of an image can have: one to five taps inside, of the three windows.
static_assert(divides(5) && divides(10) && divides(15) && divides(20) && divides(25));
static_assert(divides(27) && divides(45) && divides(54) && divides(63) && divides(72) && divides(81));
static_assert(divides(96) && divides(160) && divides(176) && divides(224) && divides(240) && divides(256));

// Stands for the rows beyond the image, with shrink.
alignas(64) constexpr Sample kNoSamples[kChunkRoom] = {};

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

// Column `first` is even[1] of the arrays; the two columns before it are even[0] and odd[0].
struct ColumnSums {
  alignas(64) std::uint16_t even[kChunkRoom / 2];
  alignas(64) std::uint16_t odd[kChunkRoom / 2];

  [[nodiscard]] std::uint16_t& at(std::int64_t column, std::int64_t first) {
    const std::int64_t i = column - first + kRadius;
    return (i % 2 == 0 ? even : odd)[i / 2];
  }
};

template <Window W>
HWY_INLINE V16 five_taps(V16 a, V16 b, V16 c, V16 d, V16 e) {
  const V16 outer = hn::Add(a, e);
  const V16 inner = hn::Add(b, d);
  if constexpr (W == Window::triangle)
    return hn::Add(hn::Add(outer, hn::Add(inner, inner)), hn::Add(c, hn::Add(c, c)));
  if constexpr (W == Window::gauss) {  // 4 (b + d) + 6 c = 4 (b + c + d) + 2 c
    return hn::Add(hn::Add(outer, hn::ShiftLeft<2>(hn::Add(inner, c))), hn::Add(c, c));
  }
  return hn::Add(hn::Add(outer, inner), c);
}

template <Window W>
HWY_INLINE void sum_vector(const V8 (&rows)[kTaps], std::uint16_t* even, std::uint16_t* odd) {
  const D16 d;
  const V16 bytes = hn::Set(d, 0xFF);
  V16 words[kTaps];
  V16 uppers[kTaps];
  for (int i = 0; i < kTaps; ++i) {
    const V16 pairs = hn::BitCast(d, rows[i]);
    words[i] = hn::And(pairs, bytes);
    uppers[i] = hn::ShiftRight<8>(pairs);
  }
  hn::StoreU(five_taps<W>(words[0], words[1], words[2], words[3], words[4]), d, even);
  hn::StoreU(five_taps<W>(uppers[0], uppers[1], uppers[2], uppers[3], uppers[4]), d, odd);
}

// Sums along `columns` columns, the first of them an even one of the chunk, at even[0], odd[0] and on. The
// row that comes `ahead` samples behind the last one is asked for early; what a prefetch points at need not
// exist.
template <Window W>
void sum_columns(const Sample* const (&rows)[kTaps], std::int64_t ahead, std::int64_t columns,
                 std::uint16_t* even, std::uint16_t* odd) {
  const D8 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V8 v[kTaps];
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes) {
    hwy::Prefetch(rows[kTaps - 1] + ahead + x);
    for (int i = 0; i < kTaps; ++i) v[i] = hn::LoadU(d, rows[i] + x);
    sum_vector<W>(v, even + x / 2, odd + x / 2);
  }
  if (x == columns) return;
  HWY_ALIGN Sample ends[kTaps][hn::MaxLanes(d)] = {};
  for (int i = 0; i < kTaps; ++i) {
    std::memcpy(ends[i], rows[i] + x, static_cast<std::size_t>(columns - x));
    v[i] = hn::Load(d, ends[i]);
  }
  sum_vector<W>(v, even + x / 2, odd + x / 2);
}

HWY_INLINE V16 divided(V16 sum, const Divisor& divisor) {
  const D16 d;
  return hn::ShiftRightSame(hn::MulHigh(hn::Add(sum, hn::Set(d, divisor.add)), hn::Set(d, divisor.factor)),
                            divisor.shift);
}

// The means of a vector of columns; even and odd point at the sums of its first two.
template <Window W>
HWY_INLINE V8 means_vector(const std::uint16_t* even, const std::uint16_t* odd, const Divisor& divisor) {
  const D16 d;
  const V16 e0 = hn::LoadU(d, even - 1);
  const V16 o0 = hn::LoadU(d, odd - 1);
  const V16 e1 = hn::LoadU(d, even);
  const V16 o1 = hn::LoadU(d, odd);
  const V16 e2 = hn::LoadU(d, even + 1);
  const V16 o2 = hn::LoadU(d, odd + 1);
  const V16 first = divided(five_taps<W>(e0, o0, e1, o1, e2), divisor);
  const V16 second = divided(five_taps<W>(o0, e1, o1, e2, o2), divisor);
  return hn::BitCast(D8(), hn::Or(first, hn::ShiftLeft<8>(second)));
}

template <Window W>
void average_columns(const ColumnSums& sums, std::int64_t columns, const Divisor& divisor, Sample* out) {
  const D8 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes)
    hn::StoreU(means_vector<W>(sums.even + 1 + x / 2, sums.odd + 1 + x / 2, divisor), d, out + x);
  if (x == columns) return;
  HWY_ALIGN Sample end[hn::MaxLanes(d)];
  hn::Store(means_vector<W>(sums.even + 1 + x / 2, sums.odd + 1 + x / 2, divisor), d, end);
  std::memcpy(out + x, end, static_cast<std::size_t>(columns - x));
}

// With shrink: a column beside the image's left or right end.
void average_end(ColumnSums& sums, std::int64_t x, std::int64_t first, std::int64_t width, const Taps& taps,
                 std::uint32_t row_weights, Sample* out) {
  std::uint32_t sum = 0;
  std::uint32_t weights = 0;
  for (int i = 0; i < kTaps; ++i) {
    const std::int64_t from = x + i - kRadius;
    if (from < 0 || from >= width) continue;
    const auto tap = static_cast<std::uint32_t>(taps[static_cast<std::size_t>(i)]);
    sum += tap * sums.at(from, first);
    weights += tap;
  }
  *out = weighted_mean(sum, weights * row_weights);
}

// Columns first..end-1 of a row; `first` is even.
template <Window W>
void smooth_chunk(const WindowRows<Sample>& rows, std::int64_t first, std::int64_t end, std::int64_t width,
                  Border border, const Divisor& divisor, ColumnSums& sums, Sample* out) {
  const Taps taps = window_taps(W);
  const std::int64_t from = std::max<std::int64_t>(0, first - kRadius);
  const std::int64_t to = std::min(width, end + kRadius);
  const Sample* at[kTaps];
  for (int i = 0; i < kTaps; ++i) at[i] = rows.row[i] == nullptr ? kNoSamples : rows.row[i] + from;
  const std::int64_t skipped = (from - first + kRadius) / 2;  // 1 where no columns come before
  sum_columns<W>(at, rows.ahead, to - from, sums.even + skipped, sums.odd + skipped);
  for (int i = 1; i <= kRadius; ++i) {
    for (const std::int64_t beyond : {std::int64_t{-i}, width - 1 + i}) {
      if (beyond < first - kRadius || beyond >= end + kRadius) continue;
      sums.at(beyond, first) = border == Border::shrink      ? std::uint16_t{0}
                               : border == Border::replicate ? sums.at(replicated(beyond, width), first)
                                                             : sums.at(reflected(beyond, width), first);
    }
  }
  average_columns<W>(sums, end - first, divisor, out + first);
  if (border != Border::shrink) return;
  for (std::int64_t x = first; x < std::min<std::int64_t>(kRadius, end); ++x)
    average_end(sums, x, first, width, taps, rows.weights, out + x);
  for (std::int64_t x = std::max(first, width - kRadius); x < end; ++x)
    average_end(sums, x, first, width, taps, rows.weights, out + x);
}

template <Window W>
void smooth_plane(const ConstHostPlane& in, const HostPlane& out, const FrameType& shape, Border border,
                  const Band& band) {
  const Taps taps = window_taps(W);
  std::uint32_t across = 0;
  for (const int tap : taps) across += static_cast<std::uint32_t>(tap);
  ColumnSums sums;
  for (std::int64_t first = 0; first < shape.width; first += kChunk) {
    const std::int64_t end = std::min(shape.width, first + kChunk);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const WindowRows<Sample> rows = rows_around(in, band.in_top, y, shape.height, border, taps);
      smooth_chunk<W>(rows, first, end, shape.width, border, divisor_of(rows.weights * across), sums,
                      out.row(y - band.out_top));
    }
  }
}

void smooth_rows(const StageCall<Host>& call, const Band& band) {
  const SmoothParameters parameters(call.parameters);
  const Border border = parameters.border;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
    const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
    switch (parameters.window) {
      case Window::triangle:
        smooth_plane<Window::triangle>(in, out, call.in.type, border, band);
        break;
      case Window::gauss:
        smooth_plane<Window::gauss>(in, out, call.in.type, border, band);
        break;
      case Window::box:
        smooth_plane<Window::box>(in, out, call.in.type, border, band);
        break;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(smooth_rows);

void smooth_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(smooth_rows)(call, band);
}

}  // namespace imgpipe
#endif
