// box in SIMD. Column sums over the window's rows are updated from row to row; prefix sums of the column sums
// are computed along each row. A window's sum is the difference of two prefix sums, whatever the radius.
// Column and prefix sums may wrap; the difference fits in 32 bits. For chunks of kChunk columns:
//
//   column[i]   sum of the window's rows in column first - radius + i     i = 0 ... end - first + 2 radius
//   before[i]   column[0] + ... + column[i - 1]
//   sum(x)      before[x - first + 2 radius + 1] - before[x - first]
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

// Columns per chunk; their sums take at most 20 KiB.
constexpr std::int64_t kChunk = 2048;
constexpr std::size_t kChunkCapacity = kChunk + std::size_t{2} * kMaxBoxRadius;
static_assert(kChunkCapacity <= kMaxZeroSamples);

HWY_INLINE V32 divided(V32 sum, const BoxDivisor& divisor) {
  const V32 dividend = hn::Add(sum, hn::Set(D32(), divisor.add));
  return hn::ShiftRightSame(upper_words(dividend, divisor.factor), divisor.shift);
}

template <class T>
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): its arrays lie on a vector's boundary
class Box {
 public:
  Box(const Plane<const T, Host>& in, const Plane<T, Host>& out, const FrameType& type,
      const BoxParameters& box, const Band& band)
      : in_(in), out_(out), width_(type.width), height_(type.height), box_(box), band_(band) {}

  void run() {
    for (std::int64_t first = 0; first < width_; first += kChunk)
      run_chunk(first, std::min(width_, first + kChunk));
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

  static HWY_NOINLINE void slide(const T* enters, const T* leaves, std::int64_t columns, Sum* sums) {
    const D d;
    const hn::Rebind<T, D> samples;
    const auto lanes = lanes_of(d);
    std::int64_t x = 0;
    for (; x + lanes <= columns; x += lanes) {
      const auto more = hn::PromoteTo(d, hn::LoadU(samples, enters + x));
      const auto less = hn::PromoteTo(d, hn::LoadU(samples, leaves + x));
      hn::StoreU(hn::Sub(hn::Add(hn::LoadU(d, sums + x), more), less), d, sums + x);
    }
    for (; x < columns; ++x) sums[x] = static_cast<Sum>(sums[x] + enters[x] - leaves[x]);
  }

  static HWY_NOINLINE void add_up(const Sum* sums, std::int64_t count, std::uint32_t* before) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      before[i] = sum;
      sum += sums[i];
    }
    before[count] = sum;
  }

  // Computes the means of `count` pixels; before[0] belongs to the first.
  static HWY_NOINLINE void divide(const std::uint32_t* before, std::int64_t side, std::int64_t count,
                                  const BoxDivisor& divisor, T* to) {
    const D32 d;
    const hn::Rebind<T, D32> samples;
    const auto lanes = lanes_of(d);
    std::int64_t x = 0;
    for (; x + lanes <= count; x += lanes) {
      const V32 sum = hn::Sub(hn::LoadU(d, before + x + side), hn::LoadU(d, before + x));
      hn::StoreU(hn::TruncateTo(samples, divided(sum, divisor)), samples, to + x);
    }
    for (; x < count; ++x) to[x] = static_cast<T>(divided_by(divisor, before[x + side] - before[x]));
  }

  void fill_ends(std::int64_t first, std::int64_t from, std::int64_t to, std::int64_t end) {
    const auto fill = [&](std::int64_t x) {
      Sum& sum = column_[x - first + box_.radius];
      if (box_.border == Border::shrink) {
        sum = 0;
      } else {
        const bool mirrored = box_.border == Border::reflect;
        sum = column_[(mirrored ? reflected(x, width_) : replicated(x, width_)) - first + box_.radius];
      }
    };
    for (std::int64_t x = first - box_.radius; x < from; ++x) fill(x);
    for (std::int64_t x = to; x < end + box_.radius; ++x) fill(x);
  }

  // Computes a pixel whose window extends beyond the image's left or right edge, with border shrink.
  void divide_end(std::int64_t x, std::int64_t first, std::uint32_t rows, T* to) const {
    const std::int64_t i = x - first;
    const std::uint32_t sum = before_[i + std::int64_t{2} * box_.radius + 1] - before_[i];
    to[x] = static_cast<T>(box_mean(sum, counted(x, width_, box_.radius) * rows));
  }

  void run_chunk(std::int64_t first, std::int64_t end) {
    const std::int64_t radius = box_.radius;
    const std::int64_t side = 2 * radius + 1;
    const std::int64_t from = std::max<std::int64_t>(0, first - radius);
    const std::int64_t to = std::min(width_, end + radius);
    Sum* sums = column_ + (from - first + radius);
    std::fill_n(column_, kChunkCapacity, Sum{0});
    for (std::int64_t y = band_.first - radius; y < band_.first + radius; ++y)
      slide(row(y, from), kZeroSamples<T>, to - from, sums);
    for (std::int64_t y = band_.first; y < band_.end; ++y) {
      const T* leaves = y == band_.first ? kZeroSamples<T> : row(y - radius - 1, from);
      slide(row(y + radius, from), leaves, to - from, sums);
      fill_ends(first, from, to, end);
      add_up(column_, end - first + 2 * radius, before_);
      const bool shrinks = box_.border == Border::shrink;
      const std::uint32_t rows =
          shrinks ? counted(y, height_, box_.radius) : static_cast<std::uint32_t>(side);
      T* target = out_.row(y - band_.out_top);
      divide(before_, side, end - first, box_divisor(rows * static_cast<std::uint32_t>(side)),
             target + first);
      if (!shrinks) continue;
      for (std::int64_t x = first; x < std::min(radius, end); ++x) divide_end(x, first, rows, target);
      for (std::int64_t x = std::max(first, width_ - radius); x < end; ++x)
        divide_end(x, first, rows, target);
    }
  }

  alignas(64) Sum column_[kChunkCapacity];
  alignas(64) std::uint32_t before_[kChunkCapacity + 1];
  Plane<const T, Host> in_;
  Plane<T, Host> out_;
  std::int64_t width_, height_;
  BoxParameters box_;
  Band band_;
};

template <class T>
void box_planes(const StageCall<Host>& call, const Band& band) {
  for_color_planes<T>(call, [&](const auto& in, const auto& out) {
    Box<T>(in, out, call.in.type, BoxParameters(call.parameters), band).run();
  });
}

void box_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { box_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(box)
#endif
