// box in SIMD. Column sums over the window's rows are updated from row to row. A window's sum is the sum of a
// few of them or, from kLeastPrefixRadius on, the difference of two prefix sums, whatever the radius. Column
// and prefix sums may wrap; the difference fits in 16 or 32 bits. For chunks of kChunk columns:
//
//   column[i]   sum of the window's rows in column first - radius + i     i = 0 ... end - first + 2 radius
//   before[i]   column[0] + ... + column[i - 1]
//   sum(x)      before[x - first + 2 radius + 1] - before[x - first]
//
// Columns are samples: in rows of RGB, the next column of a window is 3 samples away (`step`), so that a
// radius counts `step` samples each, and each channel has its prefix sums.
#include <algorithm>
#include <type_traits>

#include "kernels/box/box.h"
#include "kernels/shared/window_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/box/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Columns per chunk; their sums take at most 23 KiB.
constexpr std::int64_t kChunk = 2048;
constexpr std::size_t kBlockBytes = 16;  // prefix sums extend to the end of a block
constexpr std::size_t kChunkCapacity = kChunk + std::size_t{2} * kMaxBoxRadius * kMaxStep + kBlockBytes;
static_assert(kChunkCapacity <= kMaxZeroSamples);
// Sums of smaller windows are faster without prefix sums. 15 MP, one thread of an EPYC (Zen 4), 2026-11-26,
// radius 3: 8 bits 4.96 and 5.60 ms, 16 bits 8.27 and 10.28; radius 7: 6.13 and 5.08, 12.08 and 9.55.
constexpr int kLeastPrefixRadius = 5;

HWY_INLINE V16 divided(V16 sum, const BoxDivisor<std::uint16_t>& divisor) {
  const V16 dividend = hn::Add(sum, hn::Set(D16(), divisor.add));
  return hn::ShiftRightSame(hn::MulHigh(dividend, hn::Set(D16(), divisor.factor)), divisor.shift);
}
HWY_INLINE V32 divided(V32 sum, const BoxDivisor<std::uint32_t>& divisor) {
  const V32 dividend = hn::Add(sum, hn::Set(D32(), divisor.add));
  return hn::ShiftRightSame(upper_words(dividend, divisor.factor), divisor.shift);
}

// The sum of the window whose first column is x. `extent`: samples from its first column to its end.
template <class Sum>
struct DirectSums {
  const Sum* column;
  std::int64_t extent, step;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::int64_t x) const {
    auto sum = hn::LoadU(d, column + x);
    for (std::int64_t i = step; i < extent; i += step) sum = hn::Add(sum, hn::LoadU(d, column + x + i));
    return sum;
  }
};
template <class Total>
struct PrefixSums {
  const Total* before;
  std::int64_t extent;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::int64_t x) const {
    return hn::Sub(hn::LoadU(d, before + x + extent), hn::LoadU(d, before + x));
  }
};

// Total: holds the sum of a window.
template <class T, class Total>
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): its arrays lie on a vector's boundary
class Box {
 public:
  Box(const Plane<const T, Host>& in, const Plane<T, Host>& out, const FrameType& type,
      const BoxParameters& box, const Band& band)
      : in_(in),
        out_(out),
        width_(type.width),
        height_(type.height),
        step_(in.channels),
        samples_(in.row_samples()),
        box_(box),
        band_(band) {}

  void run() {
    const std::int64_t chunk = kChunk / step_ * step_;
    for (std::int64_t first = 0; first < samples_; first += chunk)
      run_chunk(first, std::min(samples_, first + chunk));
  }

 private:
  // Holds the sum of 255 samples of a column.
  using Sum = std::conditional_t<kIsWide<T>, std::uint32_t, std::uint16_t>;
  static_assert((2 * kMaxBoxRadius + 1) * std::int64_t{kLargest<T>} <= Sum(~Sum{0}));
  using D = hn::ScalableTag<Sum>;

  // Returns the input row for row y, which may lie beyond the border, from sample `from` on.
  const T* row(std::int64_t y, std::int64_t from) const {
    if (y < 0 || y >= height_) {
      if (box_.border == Border::shrink) return kZeroSamples<T>;
      y = box_.border == Border::reflect ? reflected(y, height_) : replicated(y, height_);
    }
    return in_.row(y - band_.in_top) + from;
  }

  HWY_NOINLINE void slide(const T* enters, const T* leaves, std::int64_t columns, Sum* sums) {
    const D d;
    const hn::Rebind<T, D> samples;
    const auto lanes = lanes_of(d);
    std::int64_t x = 0;
    for (; x + lanes <= columns; x += lanes) {
      hwy::Prefetch(enters + in_.stride + x);
      const auto more = hn::PromoteTo(d, hn::LoadU(samples, enters + x));
      const auto less = hn::PromoteTo(d, hn::LoadU(samples, leaves + x));
      hn::StoreU(hn::Sub(hn::Add(hn::LoadU(d, sums + x), more), less), d, sums + x);
    }
    for (; x < columns; ++x) sums[x] = static_cast<Sum>(sums[x] + enters[x] - leaves[x]);
  }

  static HWY_NOINLINE void add_up(const Sum* sums, std::int64_t count, Total* before) {
    const hn::CappedTag<Total, kBlockBytes / sizeof(Total)> d;
    constexpr std::int64_t kLanes = kBlockBytes / sizeof(Total);
    auto carry = hn::Zero(d);
    before[0] = 0;
    for (std::int64_t i = 0; i < count; i += kLanes) {
      auto v = load_as(d, sums + i);
      v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
      v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
      if constexpr (kLanes > 4) v = hn::Add(v, hn::ShiftLeftLanes<4>(d, v));
      hn::StoreU(hn::Add(carry, v), d, before + i + 1);
      carry = hn::Add(carry, hn::Broadcast<kLanes - 1>(v));
    }
  }

  // add_up() for RGB. Each vector holds a pixel and one more sample, whose sum the next store overwrites.
  static HWY_NOINLINE void add_up_pixels(const Sum* sums, std::int64_t count, Total* before) {
    const hn::CappedTag<Total, kMaxStep + 1> d;
    auto sum = hn::Zero(d);
    hn::StoreU(sum, d, before);
    for (std::int64_t i = 0; i < count; i += kMaxStep) {
      sum = hn::Add(sum, load_as(d, sums + i));
      hn::StoreU(sum, d, before + i + kMaxStep);
    }
  }

  // Computes the means of `count` samples.
  template <class Sums>
  HWY_NOINLINE void divide(const Sums& sums, std::int64_t count, const BoxDivisor<Total>& divisor, T* to) {
    const hn::ScalableTag<Total> d;
    const hn::Rebind<T, decltype(d)> samples;
    const auto vector = [&](std::int64_t x) HWY_ATTR {
      hwy::Prefetch(to + out_.stride + x);
      hn::StoreU(hn::TruncateTo(samples, divided(sums(d, x), divisor)), samples, to + x);
    };
    for_row(count, lanes_of(d), vector, [&]() HWY_ATTR {
      for (std::int64_t x = 0; x < count; ++x) to[x] = static_cast<T>(divided_by(divisor, one_sum(sums, x)));
    });
  }

  template <class Sums>
  static HWY_INLINE Total one_sum(const Sums& sums, std::int64_t x) {
    return hn::GetLane(sums(hn::CappedTag<Total, 1>(), x));
  }

  // Fills the columns beyond the image. `from`, `to`: the samples of the chunk and its margins that lie in
  // the image. Chunks consist of whole pixels.
  void fill_ends(std::int64_t first, std::int64_t from, std::int64_t to, std::int64_t end) {
    Sum* const column = column_ + (margin() - first);
    const auto fill = [&](std::int64_t pixel) {
      const std::int64_t source =
          box_.border == Border::reflect ? reflected(pixel, width_) : replicated(pixel, width_);
      for (std::int64_t c = 0; c < step_; ++c)
        column[pixel * step_ + c] = box_.border == Border::shrink ? Sum{0} : column[source * step_ + c];
    };
    for (std::int64_t x = first - margin(); x < from; x += step_) fill(-((from - x) / step_));
    for (std::int64_t x = to; x < end + margin(); x += step_) fill(width_ + (x - to) / step_);
  }

  template <class Sums>
  void divide_row(const Sums& sums, std::int64_t first, std::int64_t end, std::int64_t y) {
    const bool shrinks = box_.border == Border::shrink;
    const auto side = static_cast<std::uint32_t>(2 * box_.radius + 1);
    const std::uint32_t rows = shrinks ? counted(y, height_, box_.radius) : side;
    T* to = out_.row(y - band_.out_top);
    divide(sums, end - first, box_divisor<Total>(rows * side), to + first);
    if (!shrinks) return;
    // Windows that extend beyond the image's left or right edge.
    const auto divide_end = [&](std::int64_t x) {
      const std::uint32_t columns = counted(x / step_, width_, box_.radius);
      to[x] = static_cast<T>(box_mean(one_sum(sums, x - first), columns * rows));
    };
    for (std::int64_t x = first; x < std::min(margin(), end); ++x) divide_end(x);
    for (std::int64_t x = std::max(first, samples_ - margin()); x < end; ++x) divide_end(x);
  }

  void run_chunk(std::int64_t first, std::int64_t end) {
    const std::int64_t radius = box_.radius;
    const std::int64_t extent = (2 * radius + 1) * step_;
    const std::int64_t from = std::max<std::int64_t>(0, first - margin());
    const std::int64_t to = std::min(samples_, end + margin());
    Sum* sums = column_ + (from - first + margin());
    std::fill_n(column_, kChunkCapacity, Sum{0});
    for (std::int64_t y = band_.first - radius; y < band_.first + radius; ++y)
      slide(row(y, from), kZeroSamples<T>, to - from, sums);
    for (std::int64_t y = band_.first; y < band_.end; ++y) {
      const T* leaves = y == band_.first ? kZeroSamples<T> : row(y - radius - 1, from);
      slide(row(y + radius, from), leaves, to - from, sums);
      fill_ends(first, from, to, end);
      if constexpr (sizeof(Sum) == sizeof(Total)) {
        if (radius < kLeastPrefixRadius) {
          divide_row(DirectSums<Total>{column_, extent, step_}, first, end, y);
          continue;
        }
      }
      const std::int64_t columns = end - first + 2 * margin();
      step_ == kMaxStep ? add_up_pixels(column_, columns, before_) : add_up(column_, columns, before_);
      divide_row(PrefixSums<Total>{before_, extent}, first, end, y);
    }
  }

  // Samples of a window on either side of its centre.
  [[nodiscard]] std::int64_t margin() const { return box_.radius * step_; }

  alignas(64) Sum column_[kChunkCapacity];
  alignas(64) Total before_[kChunkCapacity + kMaxStep];
  Plane<const T, Host> in_;
  Plane<T, Host> out_;
  std::int64_t width_, height_;  // in pixels
  std::int64_t step_, samples_;  // from a pixel to the next, and of a row
  BoxParameters box_;
  Band band_;
};

template <class T, class Total>
void box_planes(const StageCall<Host>& call, const Band& band) {
  for_color_planes<T>(call, [&](const auto& in, const auto& out) {
    Box<T, Total>(in, out, call.in.type, BoxParameters(call.parameters), band).run();
  });
}

void box_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    if constexpr (!kIsWide<T>) {
      if (BoxParameters(call.parameters).radius <= kMaxNarrowRadius)
        return box_planes<T, std::uint16_t>(call, band);
    }
    box_planes<T, std::uint32_t>(call, band);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(box)
#endif
