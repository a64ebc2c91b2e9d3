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
// Columns are samples. In rows of RGB the next column of a window is 3 samples away (Step), and has the other
// parity:
//
//   sample 2i      even[i-3] odd[i-2] even[i] odd[i+1] even[i+3]
//   sample 2i+1    odd[i-3] even[i-1] odd[i] even[i+2] odd[i+3]
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
// The capacity in samples: a chunk, the samples of two more pixels on either side, rounded up to any vector
// size.
constexpr std::size_t kChunkCapacity = kChunk + std::size_t{2} * kRadius * kMaxStep + 256;
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

template <class T, Window W, std::int64_t Step>
struct Smooth {
  static constexpr std::int64_t kMargin = kRadius * Step;  // samples of a window on either side of its centre
  // A chunk has whole pixels and an even number of samples.
  static constexpr std::int64_t kStepChunk = kChunk / (2 * Step) * (2 * Step);
  using Both = Pairs<T>;
  using Sum = typename Both::Sum;
  using D = typename Both::D;
  using Samples = typename Both::Samples;
  using V = hn::Vec<D>;
  using Divisor = SmoothDivisor<T>;

  // Sample `first` is even[Step] of the arrays; the samples of the two columns before it begin at even[0].
  struct ColumnSums {
    alignas(64) Sum even[kChunkCapacity / 2];
    alignas(64) Sum odd[kChunkCapacity / 2];

    [[nodiscard]] Sum& at(std::int64_t sample, std::int64_t first) {
      const std::int64_t i = sample - first + kMargin;
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
    // Array positions per Step samples, rounded down; Step is odd.
    constexpr std::int64_t kHalfStep = Step / 2;
    const V e0 = hn::LoadU(d, even - Step);
    const V o0 = hn::LoadU(d, odd - kHalfStep - 1);
    const V e1 = hn::LoadU(d, even);
    const V o1 = hn::LoadU(d, odd + kHalfStep);
    const V e2 = hn::LoadU(d, even + Step);
    const V even_sum = five_taps<W>(e0, o0, e1, o1, e2);
    const V odd_sum =
        five_taps<W>(hn::LoadU(d, odd - Step), hn::LoadU(d, even - kHalfStep), hn::LoadU(d, odd),
                     hn::LoadU(d, even + kHalfStep + 1), hn::LoadU(d, odd + Step));
    return Both::joined(divided(even_sum, divisor), divided(odd_sum, divisor));
  }

  // `divisor` is passed by value, so that it stays in registers.
  static HWY_NOINLINE void average_columns(const ColumnSums& sums, std::int64_t columns, Divisor divisor,
                                           T* out) {
    store_row(Samples(), columns, out, [&](std::int64_t x) HWY_ATTR {
      return means_vector(sums.even + Step + x / 2, sums.odd + Step + x / 2, divisor);
    });
  }

  // With shrink: computes a sample near the row's left or right end.
  static void average_end(ColumnSums& sums, std::int64_t x, std::int64_t first, std::int64_t samples,
                          std::uint32_t row_weights, T* out) {
    constexpr Taps kWeights = window_taps(W);
    std::uint32_t sum = 0;
    std::uint32_t weights = 0;
    for (int i = 0; i < kTaps; ++i) {
      const std::int64_t from = x + (i - kRadius) * Step;
      if (from < 0 || from >= samples) continue;
      const auto tap = static_cast<std::uint32_t>(kWeights[static_cast<std::size_t>(i)]);
      sum += tap * sums.at(from, first);
      weights += tap;
    }
    *out = weighted_mean<T>(sum, weights * row_weights);
  }

  // Computes samples first..end-1 of a row of `width` pixels; `first` is the even first sample of a pixel.
  static void chunk(const WindowRows<T>& rows, std::int64_t first, std::int64_t end, std::int64_t width,
                    Border border, const Divisor& divisor, ColumnSums& sums, T* out) {
    const std::int64_t samples = width * Step;
    const std::int64_t from = std::max<std::int64_t>(0, first - kMargin);
    const std::int64_t to = std::min(samples, end + kMargin);
    const T* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows.row[i] == nullptr ? kZeroSamples<T> : rows.row[i] + from;
    const std::int64_t skipped = (from - first + kMargin) / 2;  // Step in the first chunk
    sum_columns(at, rows.ahead, to - from, sums.even + skipped, sums.odd + skipped);
    for (int i = 1; i <= kRadius; ++i) {
      for (const std::int64_t beyond : {std::int64_t{-i}, width - 1 + i}) {
        if (beyond * Step < first - kMargin || beyond * Step >= end + kMargin) continue;
        const std::int64_t source =
            border == Border::replicate ? replicated(beyond, width) : reflected(beyond, width);
        for (int c = 0; c < Step; ++c)
          sums.at(beyond * Step + c, first) =
              border == Border::shrink ? Sum{0} : sums.at(source * Step + c, first);
      }
    }
    average_columns(sums, end - first, divisor, out + first);
    if (border != Border::shrink) return;
    for (std::int64_t x = first; x < std::min(kMargin, end); ++x)
      average_end(sums, x, first, samples, rows.weights, out + x);
    for (std::int64_t x = std::max(first, samples - kMargin); x < end; ++x)
      average_end(sums, x, first, samples, rows.weights, out + x);
  }

  static void planes(const StageCall<Host>& call, Border border, const Band& band) {
    const FrameType& type = call.in.type;
    static constexpr Taps taps = window_taps(W);
    static constexpr auto across = static_cast<std::uint32_t>(std::accumulate(taps.begin(), taps.end(), 0));
    ColumnSums sums;
    std::uint32_t weights = 0;  // of the previous row
    Divisor divisor;
    for_color_planes<T>(call, [&](const Plane<const T, Host>& in, const Plane<T, Host>& out) {
      for_chunks(in.row_samples(), kStepChunk, band,
                 [&](std::int64_t first, std::int64_t end, std::int64_t y) {
                   const WindowRows<T> rows = window_rows(in, band.in_top, y, type.height, border, taps);
                   if (rows.weights != weights) divisor = Divisor::of(rows.weights * across);
                   weights = rows.weights;
                   chunk(rows, first, end, type.width, border, divisor, sums, out.row(y - band.out_top));
                 });
    });
  }
};

template <class T, std::int64_t Step>
void smooth_planes(const StageCall<Host>& call, const Band& band) {
  const SmoothParameters parameters(call.parameters);
  switch (parameters.window) {
    case Window::triangle:
      Smooth<T, Window::triangle, Step>::planes(call, parameters.border, band);
      break;
    case Window::gauss:
      Smooth<T, Window::gauss, Step>::planes(call, parameters.border, band);
      break;
    case Window::box:
      Smooth<T, Window::box, Step>::planes(call, parameters.border, band);
      break;
  }
}

void smooth_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    call.in.type.layout == Layout::interleaved ? smooth_planes<T, kMaxStep>(call, band)
                                               : smooth_planes<T, 1>(call, band);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(smooth)
#endif
