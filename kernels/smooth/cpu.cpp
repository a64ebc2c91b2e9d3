// smooth in SIMD: the 25 taps are five along columns, then five along the row. Sums of 8-bit samples have 16
// bits (at most 255 * 256), those of 16-bit samples 32 (at most 65535 * 256).
//
// Even and odd columns stay separate from load to store, so that converting between samples and sums moves no
// data between lanes. For chunks of kChunk columns:
//
//   samples  c0 c1 c2 c3 c4 c5 ...       five rows
//   even[]   s(-2)  s0  s2  s4 ...       sums along columns
//   odd[]    s(-1)  s1  s3  s5 ...
//   column 2i      even[i-1] odd[i-1] even[i] odd[i] even[i+1]
//   column 2i+1    odd[i-1] even[i] odd[i] even[i+1] odd[i+1]
//
// replicate and reflect fill in the sums of the two columns beyond either end. With shrink those are zero, as
// are rows beyond the image, and each of the two outermost columns is divided by its own weights.
//
// One thread of a Xeon (Sapphire Rapids), AVX3, 47 MP of 8 bits, 2026-11-20: 8.5 ms (6.4 from the caches);
// without the prefetch of the next row 12.5; chunks of 2048 columns 10.0, of 1024 14.5.
#include <algorithm>
#include <numeric>

#include "kernels/shared/window_rows.h"
#include "kernels/smooth/divisor.h"
#include "kernels/smooth/smooth.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/smooth/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Columns at a time: the sums of a chunk take 8 KiB (16 for 16-bit samples), which the L1 cache holds.
constexpr std::int64_t kChunk = 4096;
// The capacity in samples: a chunk's columns, two more on either side, rounded up to any vector size.
constexpr std::size_t kChunkCapacity = kChunk + std::size_t{2} * kRadius + 256;
static_assert(kChunkCapacity <= kMaxZeroSamples);

template <Window W, class V>
HWY_INLINE V five_taps(V a, V b, V c, V d, V e) {
  const V outer = hn::Add(a, e);
  const V inner = hn::Add(b, d);
  if constexpr (W == Window::triangle)
    return hn::Add(hn::Add(outer, hn::Add(inner, inner)), hn::Add(c, hn::Add(c, c)));
  if constexpr (W == Window::gauss) {  // 4 (b + d) + 6 c = 4 (b + c + d) + 2 c
    return hn::Add(hn::Add(outer, hn::ShiftLeft<2>(hn::Add(inner, c))), hn::Add(c, c));
  }
  return hn::Add(hn::Add(outer, inner), c);
}

HWY_INLINE V16 divided(V16 sum, const SmoothDivisor<Sample8>& divisor) {
  const D16 d;
  return hn::ShiftRightSame(hn::MulHigh(hn::Add(sum, hn::Set(d, divisor.add)), hn::Set(d, divisor.factor)),
                            divisor.shift);
}

HWY_INLINE V32 divided(V32 sum, const SmoothDivisor<Sample16>& divisor) {
  return upper_words(hn::Add(sum, hn::Set(D32(), divisor.add)), divisor.factor);
}

template <class T, Window W>
struct Smooth {
  using Both = Pairs<T>;
  using Sum = typename Both::Sum;
  using D = typename Both::D;
  using Samples = typename Both::Samples;
  using V = hn::Vec<D>;
  using Divisor = SmoothDivisor<T>;

  // Column `first` is even[1] of the arrays; the two columns before it are even[0] and odd[0].
  struct ColumnSums {
    alignas(64) Sum even[kChunkCapacity / 2];
    alignas(64) Sum odd[kChunkCapacity / 2];

    [[nodiscard]] Sum& at(std::int64_t column, std::int64_t first) {
      const std::int64_t i = column - first + kRadius;
      return (i % 2 == 0 ? even : odd)[i / 2];
    }
  };

  // Sums `columns` columns, starting at an even one of the chunk; stores the sums from even[0] and odd[0] on.
  static HWY_NOINLINE void sum_columns(const T* const* rows, std::int64_t ahead, std::int64_t columns,
                                       Sum* even, Sum* odd) {
    for_columns<kTaps>(Samples(), rows, ahead, columns, [&](std::int64_t x, const auto& v) HWY_ATTR {
      const V even_sums = five_taps<W>(Both::even(v[0]), Both::even(v[1]), Both::even(v[2]), Both::even(v[3]),
                                       Both::even(v[4]));
      const V odd_sums =
          five_taps<W>(Both::odd(v[0]), Both::odd(v[1]), Both::odd(v[2]), Both::odd(v[3]), Both::odd(v[4]));
      hn::StoreU(even_sums, D(), even + x / 2);
      hn::StoreU(odd_sums, D(), odd + x / 2);
    });
  }

  // Returns the means of a vector of columns; even and odd point at the sums of its first two.
  static HWY_INLINE hn::Vec<Samples> means_vector(const Sum* even, const Sum* odd, const Divisor& divisor) {
    const D d;
    const V e0 = hn::LoadU(d, even - 1);
    const V o0 = hn::LoadU(d, odd - 1);
    const V e1 = hn::LoadU(d, even);
    const V o1 = hn::LoadU(d, odd);
    const V e2 = hn::LoadU(d, even + 1);
    const V o2 = hn::LoadU(d, odd + 1);
    return Both::joined(divided(five_taps<W>(e0, o0, e1, o1, e2), divisor),
                        divided(five_taps<W>(o0, e1, o1, e2, o2), divisor));
  }

  // `divisor` is passed by value, so that it stays in registers.
  static HWY_NOINLINE void average_columns(const ColumnSums& sums, std::int64_t columns, Divisor divisor,
                                           T* out) {
    store_row(Samples(), columns, out, [&](std::int64_t x) HWY_ATTR {
      return means_vector(sums.even + 1 + x / 2, sums.odd + 1 + x / 2, divisor);
    });
  }

  // With shrink: computes a column near the image's left or right end.
  static void average_end(ColumnSums& sums, std::int64_t x, std::int64_t first, std::int64_t width,
                          std::uint32_t row_weights, T* out) {
    constexpr Taps kWeights = window_taps(W);
    std::uint32_t sum = 0;
    std::uint32_t weights = 0;
    for (int i = 0; i < kTaps; ++i) {
      const std::int64_t from = x + i - kRadius;
      if (from < 0 || from >= width) continue;
      const auto tap = static_cast<std::uint32_t>(kWeights[static_cast<std::size_t>(i)]);
      sum += tap * sums.at(from, first);
      weights += tap;
    }
    *out = weighted_mean<T>(sum, weights * row_weights);
  }

  // Computes columns first..end-1 of a row; `first` is even.
  static void chunk(const WindowRows<T>& rows, std::int64_t first, std::int64_t end, std::int64_t width,
                    Border border, const Divisor& divisor, ColumnSums& sums, T* out) {
    const std::int64_t from = std::max<std::int64_t>(0, first - kRadius);
    const std::int64_t to = std::min(width, end + kRadius);
    const T* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows.row[i] == nullptr ? kZeroSamples<T> : rows.row[i] + from;
    const std::int64_t skipped = (from - first + kRadius) / 2;  // 1 in the first chunk
    sum_columns(at, rows.ahead, to - from, sums.even + skipped, sums.odd + skipped);
    for (int i = 1; i <= kRadius; ++i) {
      for (const std::int64_t beyond : {std::int64_t{-i}, width - 1 + i}) {
        if (beyond < first - kRadius || beyond >= end + kRadius) continue;
        sums.at(beyond, first) = border == Border::shrink      ? Sum{0}
                                 : border == Border::replicate ? sums.at(replicated(beyond, width), first)
                                                               : sums.at(reflected(beyond, width), first);
      }
    }
    average_columns(sums, end - first, divisor, out + first);
    if (border != Border::shrink) return;
    for (std::int64_t x = first; x < std::min<std::int64_t>(kRadius, end); ++x)
      average_end(sums, x, first, width, rows.weights, out + x);
    for (std::int64_t x = std::max(first, width - kRadius); x < end; ++x)
      average_end(sums, x, first, width, rows.weights, out + x);
  }

  static void planes(const StageCall<Host>& call, Border border, const Band& band) {
    const FrameType& type = call.in.type;
    static constexpr Taps taps = window_taps(W);
    static constexpr auto across = static_cast<std::uint32_t>(std::accumulate(taps.begin(), taps.end(), 0));
    ColumnSums sums;
    std::uint32_t weights = 0;  // of the previous row
    Divisor divisor;
    for_color_planes<T>(call, [&](const Plane<const T, Host>& in, const Plane<T, Host>& out) {
      for_chunks(type.width, kChunk, band, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
        const WindowRows<T> rows = window_rows(in, band.in_top, y, type.height, border, taps);
        if (rows.weights != weights) divisor = Divisor::of(rows.weights * across);
        weights = rows.weights;
        chunk(rows, first, end, type.width, border, divisor, sums, out.row(y - band.out_top));
      });
    });
  }
};

template <class T>
void smooth_planes(const StageCall<Host>& call, const Band& band) {
  const SmoothParameters parameters(call.parameters);
  switch (parameters.window) {
    case Window::triangle:
      Smooth<T, Window::triangle>::planes(call, parameters.border, band);
      break;
    case Window::gauss:
      Smooth<T, Window::gauss>::planes(call, parameters.border, band);
      break;
    case Window::box:
      Smooth<T, Window::box>::planes(call, parameters.border, band);
      break;
  }
}

void smooth_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { smooth_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(smooth)
#endif
