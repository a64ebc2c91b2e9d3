// smooth of floats in SIMD: sums down columns, a chunk of a row at a time, then across. Ignored columns are
// zeros; each of the two outermost columns on either side is divided by its own weights.
#include <algorithm>
#include <numeric>

#include "kernels/shared/window_rows.h"
#include "kernels/smooth/float_taps.h"
#include "kernels/smooth/smooth.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/smooth/cpu_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kFloatChunk = 2048;  // columns; their sums take 8 KiB
// Capacity for the sums of a chunk, of two more columns on either side, and of a vector beyond.
constexpr std::size_t kFloatSums = kFloatChunk + std::size_t{2} * kRadius + hn::MaxLanes(DFloat());
static_assert(kFloatSums <= kMaxZeroSamples);

// float_taps() for vectors.
template <Window W>
HWY_INLINE VFloat tap_vectors(VFloat a, VFloat b, VFloat c, VFloat d, VFloat e) {
  const DFloat f;
  const VFloat outer = hn::Add(a, e);
  const VFloat inner = hn::Add(b, d);
  if constexpr (W == Window::triangle)
    return hn::Add(hn::Add(outer, hn::Mul(hn::Set(f, 2.0F), inner)), hn::Mul(hn::Set(f, 3.0F), c));
  if constexpr (W == Window::gauss)
    return hn::Add(hn::Add(outer, hn::Mul(hn::Set(f, 4.0F), inner)), hn::Mul(hn::Set(f, 6.0F), c));
  return hn::Add(hn::Add(outer, inner), c);
}

template <Window W>
struct SmoothFloats {
  static constexpr Taps kWeights = window_taps(W);

  // Sums of the columns starting at `first - kRadius`.
  struct ColumnSums {
    alignas(64) float sum[kFloatSums];

    [[nodiscard]] float& at(std::int64_t column, std::int64_t first) { return sum[column - first + kRadius]; }
  };

  static HWY_NOINLINE void sum_columns(const float* const* rows, std::int64_t ahead, std::int64_t columns,
                                       float* sums) {
    for_columns<kTaps>(DFloat(), rows, ahead, columns, [&](std::int64_t x, const auto& v) HWY_ATTR {
      hn::StoreU(tap_vectors<W>(v[0], v[1], v[2], v[3], v[4]), DFloat(), sums + x);
    });
  }

  static HWY_NOINLINE void average_columns(const float* sums, std::int64_t columns, float weights,
                                           float* out) {
    const DFloat d;
    store_row(d, columns, out, [&](std::int64_t x) HWY_ATTR {
      const auto sum = [&](int i) HWY_ATTR { return hn::LoadU(d, sums + x + i); };
      return canonical(hn::Div(tap_vectors<W>(sum(0), sum(1), sum(2), sum(3), sum(4)), hn::Set(d, weights)));
    });
  }

  // With shrink: computes a column near the image's left or right end.
  static void average_end(const float* sums, std::int64_t x, std::int64_t width, std::uint32_t row_weights,
                          float* out) {
    std::uint32_t weights = 0;
    for (int i = 0; i < kTaps; ++i) {
      const std::int64_t from = x + i - kRadius;
      if (from >= 0 && from < width)
        weights += static_cast<std::uint32_t>(kWeights[static_cast<std::size_t>(i)]);
    }
    *out = imgpipe::canonical(float_taps<W>(sums[0], sums[1], sums[2], sums[3], sums[4]) /
                              static_cast<float>(weights * row_weights));
  }

  // Computes columns first..end-1 of a row.
  static void chunk(const WindowRows<float>& rows, std::int64_t first, std::int64_t end, std::int64_t width,
                    Border border, ColumnSums& sums, float* out) {
    constexpr auto kAcross = static_cast<std::uint32_t>(std::accumulate(kWeights.begin(), kWeights.end(), 0));
    const std::int64_t from = std::max<std::int64_t>(0, first - kRadius);
    const std::int64_t to = std::min(width, end + kRadius);
    const float* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows.row[i] == nullptr ? kZeroSamples<float> : rows.row[i] + from;
    sum_columns(at, rows.ahead, to - from, &sums.at(from, first));
    for (int i = 1; i <= kRadius; ++i) {
      for (const std::int64_t beyond : {std::int64_t{-i}, width - 1 + i}) {
        if (beyond < first - kRadius || beyond >= end + kRadius) continue;
        const std::int64_t source = source_of(beyond, width, border);
        sums.at(beyond, first) = source < 0 ? 0.0F : sums.at(source, first);
      }
    }
    average_columns(sums.sum, end - first, static_cast<float>(rows.weights * kAcross), out + first);
    if (border != Border::shrink) return;
    for (std::int64_t x = first; x < std::min<std::int64_t>(kRadius, end); ++x)
      average_end(&sums.at(x - kRadius, first), x, width, rows.weights, out + x);
    for (std::int64_t x = std::max(first, width - kRadius); x < end; ++x)
      average_end(&sums.at(x - kRadius, first), x, width, rows.weights, out + x);
  }

  static void planes(const StageCall<Host>& call, Border border, const Band& band) {
    const FrameType& type = call.in.type;
    ColumnSums sums;
    for_color_planes<float>(call, [&](const Plane<const float, Host>& in, const Plane<float, Host>& out) {
      for_chunks(type.width, kFloatChunk, band, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
        const WindowRows<float> rows = window_rows(in, band.in_top, y, type.height, border, kWeights);
        chunk(rows, first, end, type.width, border, sums, out.row(y - band.out_top));
      });
    });
  }
};

void smooth_f32_rows(const StageCall<Host>& call, const Band& band) {
  const SmoothParameters parameters(call.parameters);
  switch (parameters.window) {
    case Window::triangle:
      SmoothFloats<Window::triangle>::planes(call, parameters.border, band);
      break;
    case Window::gauss:
      SmoothFloats<Window::gauss>::planes(call, parameters.border, band);
      break;
    case Window::box:
      SmoothFloats<Window::box>::planes(call, parameters.border, band);
      break;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(smooth_f32)
#endif
