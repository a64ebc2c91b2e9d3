// Medians of windows of any side up to 15, by bisection: each lane holds the range of values in which its
// median lies, counts the window's samples above the middle of that range, and halves it. The range begins as
// that of the window's samples, so that smooth areas need few passes: at most 8 or 16. For Highway files;
// included once per instruction set.
//
// A photograph of 12 MP, grey, processor time of one thread of an EPYC (Zen, AVX2), 2026-11-26, ms: 8 bits 52
// (7x7) to 218 (15x15), 16 bits 236 to 994; noise 112 to 337 and 359 to 1248. The constant-time histograms of
// OpenCV 5.0, which has no 16 bits: 396 to 381.
//
// Samples are signed here, with their highest bit inverted, because not all targets compare unsigned lanes.
#if defined(IMGPIPE_KERNELS_MEDIAN_BISECTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_MEDIAN_BISECTION_INL_H
#undef IMGPIPE_KERNELS_MEDIAN_BISECTION_INL_H
#else
#define IMGPIPE_KERNELS_MEDIAN_BISECTION_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/median/median.h"
#include "kernels/shared/vectors-inl.h"
#include "kernels/shared/window.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class WideMedian {
 public:
  static void planes(const StageCall<Host>& call, const Band& band) {
    WideMedian median(MedianParameters(call.parameters).radius);
    for_color_planes<T>(call, [&](const auto& in, const auto& out) {
      for (std::int64_t first = 0; first < in.width; first += kChunk)
        median.chunk(in, out, call.in.type, band, first, std::min(in.width, first + kChunk));
    });
  }

 private:
  using S = std::make_signed_t<T>;
  using D = hn::ScalableTag<S>;
  using Unsigned = hn::RebindToUnsigned<D>;
  using V = hn::Vec<D>;
  static constexpr int kMaxSide = 2 * kMaxMedianRadius + 1;
  // The lines of a chunk, at most 20 KiB, stay in the L1 cache.
  static constexpr std::int64_t kChunk = 1024 / static_cast<std::int64_t>(sizeof(T));
  // Vectors may extend beyond the last column; what they read there has no effect.
  static constexpr std::size_t kLine = static_cast<std::size_t>(kChunk) + std::size_t{2} * kMaxMedianRadius +
                                       std::size_t{2} * HWY_MAX_BYTES / sizeof(T);

  explicit WideMedian(int radius) : radius_(radius), side_(2 * radius + 1) {}

  template <class In, class Out>
  void chunk(const In& in, const Out& out, const FrameType& type, const Band& band, std::int64_t first,
             std::int64_t end) {
    for (std::int64_t y = band.first - radius_; y < band.end + radius_; ++y) {
      fill_line(in.row(replicated(y, type.height) - band.in_top), type.width, first, end,
                lines_[static_cast<std::size_t>(y - band.first + radius_) % static_cast<std::size_t>(side_)]);
      if (y >= band.first + radius_) row(end - first, out.row(y - radius_ - band.out_top) + first);
    }
  }

  // Stores columns first - radius .. end - 1 + radius of a row.
  HWY_NOINLINE void fill_line(const T* from, std::int64_t width, std::int64_t first, std::int64_t end,
                              S* line) const {
    const std::int64_t left = std::max<std::int64_t>(0, first - radius_);
    const std::int64_t right = std::min(width, end + radius_);
    S* begin = line + (left - (first - radius_));
    S* after = std::transform(from + left, from + right, begin,
                              [](T v) { return static_cast<S>(static_cast<T>(v ^ kTopBit)); });
    std::fill(line, begin, *begin);
    std::fill_n(after, end + radius_ - right, *(after - 1));
  }

  HWY_NOINLINE void row(std::int64_t columns, T* out) {
    const D d;
    for (std::int64_t x = 0; x < columns + std::int64_t{2} * radius_; x += lanes_of(d)) {
      V least = hn::LoadU(d, lines_[0] + x);
      V most = least;
      for (int i = 1; i < side_; ++i) {
        const V v = hn::LoadU(d, lines_[i] + x);
        least = hn::Min(least, v);
        most = hn::Max(most, v);
      }
      hn::StoreU(least, d, least_ + x);
      hn::StoreU(most, d, most_ + x);
    }
    store_row(Unsigned(), columns, out, [&](std::int64_t x) HWY_ATTR { return medians(x); });
  }

  // Returns the medians of the windows that begin at column x of the lines.
  HWY_INLINE hn::Vec<Unsigned> medians(std::int64_t x) const {
    const D d;
    V low = hn::LoadU(d, least_ + x);
    V high = hn::LoadU(d, most_ + x);
    for (int k = 1; k < side_; ++k) {
      low = hn::Min(low, hn::LoadU(d, least_ + x + k));
      high = hn::Max(high, hn::LoadU(d, most_ + x + k));
    }
    while (!hn::AllTrue(d, hn::Eq(low, high))) {
      const Unsigned u;
      const auto half = hn::ShiftRight<1>(hn::Sub(hn::BitCast(u, high), hn::BitCast(u, low)));
      const V middle = hn::Add(low, hn::BitCast(d, half));
      const auto above = hn::Min(high, hn::Add(middle, hn::Set(d, S{1})));
      const auto not_above = hn::Lt(counted(x, middle), hn::Zero(d));
      low = hn::IfThenElse(not_above, low, above);
      high = hn::IfThenElse(not_above, middle, high);
    }
    return hn::Xor(hn::BitCast(Unsigned(), low), hn::Set(Unsigned(), kTopBit));
  }

  // Returns the number of the window's samples greater than `value`, minus that of a majority: -113 to 112.
  HWY_INLINE V counted(std::int64_t x, V value) const {
    const D d;
    V even = hn::Set(d, static_cast<S>(-(side_ * side_ / 2 + 1)));
    V odd = hn::Zero(d);
    const auto count = [&](V& counts, const S* at) HWY_ATTR {
      counts = hn::Sub(counts, hn::VecFromMask(d, hn::Gt(hn::LoadU(d, at), value)));
    };
    for (int i = 0; i < side_; ++i) {
      const S* at = lines_[i] + x;
      count(even, at);
      for (int k = 1; k < side_; k += 2) {
        count(odd, at + k);
        count(even, at + k + 1);
      }
    }
    return hn::Add(even, odd);
  }

  static constexpr T kTopBit = static_cast<T>(kLargest<T> / 2 + 1);
  int radius_, side_;
  HWY_ALIGN S lines_[kMaxSide][kLine] = {};
  HWY_ALIGN S least_[kLine] = {}, most_[kLine] = {};
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
