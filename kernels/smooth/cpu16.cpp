// smooth of samples of 16 bits in SIMD: as cpu.cpp does it for 8 bits, with 32 bits a sum (at most 65535 *
// 256) in place of 16, so that even and odd columns become the halves of 32-bit lanes.
#include <algorithm>
#include <cstring>

#include "kernels/smooth/smooth.h"
#include "kernels/smooth/window_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/smooth/cpu16.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_SMOOTH_DIVISOR_16
#define IMGPIPE_SMOOTH_DIVISOR_16
namespace imgpipe {
namespace {

// Columns at a time: their sums take 16 KiB.
constexpr std::int64_t kChunk = 4096;
// Samples that a chunk's rows are read and written in: columns, two more on either side, rounded up to any
// vector.
constexpr std::size_t kChunkRoom = kChunk + 2 * kRadius + 128;

// (sum + add) * factor >> 32 is weighted_mean(sum, weights) for every sum there can be, weights from 5 to
// 256: factor is 2^32 / weights rounded up, by less than weights / weights, and (sum + add) * weights stays
// below 2^32, because sum + add < 2^24 (Granlund and Montgomery, 1994).
struct Divisor {
  std::uint32_t add = 0;
  std::uint32_t factor = 0;
};

constexpr Divisor divisor_of(std::uint32_t weights) {
  return {weights / 2, static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + weights - 1) / weights)};
}

constexpr bool divides(std::uint32_t weights) {
  const Divisor d = divisor_of(weights);
  for (const std::uint32_t mean : {0U, 1U, 2U, 32767U, 65533U, 65534U, 65535U}) {
    for (const std::uint32_t off : {0U, 1U}) {  // around the place where it rounds up
      const std::uint32_t sum = mean * weights + (weights + 1) / 2 - 1 + off;
      if (sum > 65535 * weights) continue;
      if ((std::uint64_t{sum + d.add} * d.factor >> 32) != weighted_mean<Sample16>(sum, weights))
        return false;
    }
  }
  return true;
}

// Every number of weights that a row of an image can have: one to five taps inside, of the three windows.
static_assert(divides(5) && divides(10) && divides(15) && divides(20) && divides(25));
static_assert(divides(27) && divides(45) && divides(54) && divides(63) && divides(72) && divides(81));
static_assert(divides(96) && divides(160) && divides(176) && divides(224) && divides(240) && divides(256));

// Stands for the rows beyond the image, with shrink.
alignas(64) constexpr Sample16 kNoSamples[kChunkRoom] = {};

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::Repartition<std::uint32_t, D16>;
using D64 = hn::Repartition<std::uint64_t, D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Column `first` is even[1] of the arrays; the two columns before it are even[0] and odd[0].
struct ColumnSums {
  alignas(64) std::uint32_t even[kChunkRoom / 2];
  alignas(64) std::uint32_t odd[kChunkRoom / 2];

  [[nodiscard]] std::uint32_t& at(std::int64_t column, std::int64_t first) {
    const std::int64_t i = column - first + kRadius;
    return (i % 2 == 0 ? even : odd)[i / 2];
  }
};

template <Window W>
HWY_INLINE V32 five_taps(V32 a, V32 b, V32 c, V32 d, V32 e) {
  const V32 outer = hn::Add(a, e);
  const V32 inner = hn::Add(b, d);
  if constexpr (W == Window::triangle)
    return hn::Add(hn::Add(outer, hn::Add(inner, inner)), hn::Add(c, hn::Add(c, c)));
  if constexpr (W == Window::gauss) {  // 4 (b + d) + 6 c = 4 (b + c + d) + 2 c
    return hn::Add(hn::Add(outer, hn::ShiftLeft<2>(hn::Add(inner, c))), hn::Add(c, c));
  }
  return hn::Add(hn::Add(outer, inner), c);
}

template <Window W>
HWY_INLINE void sum_vector(const V16 (&rows)[kTaps], std::uint32_t* even, std::uint32_t* odd) {
  const D32 d;
  const V32 lower = hn::Set(d, 0xFFFF);
  V32 words[kTaps];
  V32 uppers[kTaps];
  for (int i = 0; i < kTaps; ++i) {
    const V32 pairs = hn::BitCast(d, rows[i]);
    words[i] = hn::And(pairs, lower);
    uppers[i] = hn::ShiftRight<16>(pairs);
  }
  hn::StoreU(five_taps<W>(words[0], words[1], words[2], words[3], words[4]), d, even);
  hn::StoreU(five_taps<W>(uppers[0], uppers[1], uppers[2], uppers[3], uppers[4]), d, odd);
}

// Sums along `columns` columns, the first of them an even one of the chunk, at even[0], odd[0] and on. The
// row that comes `ahead` samples behind the last one is asked for early; what a prefetch points at need not
// exist.
template <Window W>
void sum_columns(const Sample16* const (&rows)[kTaps], std::int64_t ahead, std::int64_t columns,
                 std::uint32_t* even, std::uint32_t* odd) {
  const D16 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V16 v[kTaps];
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes) {
    hwy::Prefetch(rows[kTaps - 1] + ahead + x);
    for (int i = 0; i < kTaps; ++i) v[i] = hn::LoadU(d, rows[i] + x);
    sum_vector<W>(v, even + x / 2, odd + x / 2);
  }
  if (x == columns) return;
  HWY_ALIGN Sample16 ends[kTaps][hn::MaxLanes(d)] = {};
  for (int i = 0; i < kTaps; ++i) {
    std::memcpy(ends[i], rows[i] + x, static_cast<std::size_t>(columns - x) * sizeof(Sample16));
    v[i] = hn::Load(d, ends[i]);
  }
  sum_vector<W>(v, even + x / 2, odd + x / 2);
}

HWY_INLINE V32 divided(V32 sum, const Divisor& divisor) {
  const D32 d;
  const D64 pairs;
  const V32 dividend = hn::Add(sum, hn::Set(d, divisor.add));
  const V32 factor = hn::Set(d, divisor.factor);
  const auto even = hn::MulEven(dividend, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(pairs, dividend))), factor);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// The means of a vector of columns; even and odd point at the sums of its first two.
template <Window W>
HWY_INLINE V16 means_vector(const std::uint32_t* even, const std::uint32_t* odd, const Divisor& divisor) {
  const D32 d;
  const V32 e0 = hn::LoadU(d, even - 1);
  const V32 o0 = hn::LoadU(d, odd - 1);
  const V32 e1 = hn::LoadU(d, even);
  const V32 o1 = hn::LoadU(d, odd);
  const V32 e2 = hn::LoadU(d, even + 1);
  const V32 o2 = hn::LoadU(d, odd + 1);
  const V32 first = divided(five_taps<W>(e0, o0, e1, o1, e2), divisor);
  const V32 second = divided(five_taps<W>(o0, e1, o1, e2, o2), divisor);
  return hn::BitCast(D16(), hn::Or(first, hn::ShiftLeft<16>(second)));
}

template <Window W>
void average_columns(const ColumnSums& sums, std::int64_t columns, const Divisor& divisor, Sample16* out) {
  const D16 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes)
    hn::StoreU(means_vector<W>(sums.even + 1 + x / 2, sums.odd + 1 + x / 2, divisor), d, out + x);
  if (x == columns) return;
  HWY_ALIGN Sample16 end[hn::MaxLanes(d)];
  hn::Store(means_vector<W>(sums.even + 1 + x / 2, sums.odd + 1 + x / 2, divisor), d, end);
  std::memcpy(out + x, end, static_cast<std::size_t>(columns - x) * sizeof(Sample16));
}

// With shrink: a column beside the image's left or right end.
void average_end(ColumnSums& sums, std::int64_t x, std::int64_t first, std::int64_t width, const Taps& taps,
                 std::uint32_t row_weights, Sample16* out) {
  std::uint32_t sum = 0;
  std::uint32_t weights = 0;
  for (int i = 0; i < kTaps; ++i) {
    const std::int64_t from = x + i - kRadius;
    if (from < 0 || from >= width) continue;
    const auto tap = static_cast<std::uint32_t>(taps[static_cast<std::size_t>(i)]);
    sum += tap * sums.at(from, first);
    weights += tap;
  }
  *out = weighted_mean<Sample16>(sum, weights * row_weights);
}

// Columns first..end-1 of a row; `first` is even.
template <Window W>
void smooth_chunk(const WindowRows<Sample16>& rows, std::int64_t first, std::int64_t end, std::int64_t width,
                  Border border, const Divisor& divisor, ColumnSums& sums, Sample16* out) {
  const Taps taps = window_taps(W);
  const std::int64_t from = std::max<std::int64_t>(0, first - kRadius);
  const std::int64_t to = std::min(width, end + kRadius);
  const Sample16* at[kTaps];
  for (int i = 0; i < kTaps; ++i) at[i] = rows.row[i] == nullptr ? kNoSamples : rows.row[i] + from;
  const std::int64_t skipped = (from - first + kRadius) / 2;  // 1 where no columns come before
  sum_columns<W>(at, rows.ahead, to - from, sums.even + skipped, sums.odd + skipped);
  for (int i = 1; i <= kRadius; ++i) {
    for (const std::int64_t beyond : {std::int64_t{-i}, width - 1 + i}) {
      if (beyond < first - kRadius || beyond >= end + kRadius) continue;
      sums.at(beyond, first) = border == Border::shrink      ? std::uint32_t{0}
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
void smooth_plane(const Plane<const Sample16, Host>& in, const Plane<Sample16, Host>& out,
                  const FrameType& shape, Border border, const Band& band) {
  const Taps taps = window_taps(W);
  std::uint32_t across = 0;
  for (const int tap : taps) across += static_cast<std::uint32_t>(tap);
  ColumnSums sums;
  for (std::int64_t first = 0; first < shape.width; first += kChunk) {
    const std::int64_t end = std::min(shape.width, first + kChunk);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const WindowRows<Sample16> rows = rows_around(in, band.in_top, y, shape.height, border, taps);
      smooth_chunk<W>(rows, first, end, shape.width, border, divisor_of(rows.weights * across), sums,
                      out.row(y - band.out_top));
    }
  }
}

void smooth16_rows(const StageCall<Host>& call, const Band& band) {
  const SmoothParameters parameters(call.parameters);
  const Border border = parameters.border;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const Sample16, Host> in = call.in.plane<Sample16>(static_cast<std::size_t>(c));
    const Plane<Sample16, Host> out = call.out.plane<Sample16>(static_cast<std::size_t>(c));
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

HWY_EXPORT(smooth16_rows);

void smooth16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(smooth16_rows)(call, band);
}

}  // namespace imgpipe
#endif
