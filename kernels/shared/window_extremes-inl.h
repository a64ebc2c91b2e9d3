// Extremes of windows (window_extremes.h) on the host. For Highway files, after hwy/highway.h; included once
// per instruction set.
#if defined(IMGPIPE_KERNELS_WINDOW_EXTREMES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_WINDOW_EXTREMES_INL_H
#undef IMGPIPE_KERNELS_WINDOW_EXTREMES_INL_H
#else
#define IMGPIPE_KERNELS_WINDOW_EXTREMES_INL_H
#endif

#include <algorithm>

#include "kernels/shared/row_pair-inl.h"
#include "kernels/shared/vectors-inl.h"
#include "kernels/shared/window.h"
#include "kernels/shared/window_extremes.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Samples in the ring: 64 KiB, or 128 KiB for 16-bit samples. This limits the samples processed at a time.
constexpr std::int64_t kRingSamples = std::int64_t{1} << 16;
constexpr std::int64_t kMaxExtremeSamples = 4096;
constexpr std::size_t kExtremesCapacity =
    kMaxExtremeSamples + std::int64_t{3} * kMaxExtremeRadius * kMaxStep + 512;  // and two vectors

template <class T, class Extreme>
class WindowExtremes {
 public:
  WindowExtremes(int radius, const Extreme& extreme)
      : radius_(radius), side_(2 * radius + 1), extreme_(extreme) {}

  void run(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t height, const Band& band) {
    run(in, out, height, band, 0, in.row_samples());
  }

  // Computes samples begin..stop-1 of each row only; `out` has the columns of `in`.
  void run(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t height, const Band& band,
           std::int64_t begin, std::int64_t stop) {
    step_ = in.channels;
    const std::int64_t samples = std::min(kMaxExtremeSamples, kRingSamples / side_ / lanes_ * lanes_);
    for (std::int64_t first = begin; first < stop; first += samples) {
      const std::int64_t end = std::min(stop, first + samples);
      stride_ = (end - first + lanes_ - 1) / lanes_ * lanes_;
      slot_ = 0;
      for (std::int64_t y = band.first - radius_; y < band.end + radius_; ++y) {
        const T* const row = in.row(replicated(y, height) - band.in_top);
        fill_line(row, first, end, in.row_samples());
        const std::int64_t made = y - radius_;
        take_line(row + in.stride + first, end - first,
                  made < band.first ? unused_ : out.row(made - band.out_top) + first);
      }
    }
  }

 private:
  using D = hn::ScalableTag<T>;

  HWY_INLINE auto of_two(const T* a, const T* b) const {
    return extreme_(hn::LoadU(D(), a), hn::LoadU(D(), b));
  }

  // Computes whole vectors of extremes of two samples.
  HWY_INLINE void fill(const T* a, const T* b, std::int64_t samples, T* to) const {
    const D d;
    for (std::int64_t x = 0; x < samples; x += lanes_of(d)) hn::StoreU(of_two(a + x, b + x), d, to + x);
  }

  // Loads samples first - margin ... end + margin - 1, where the margin has `radius_` pixels, and replaces
  // each by the extreme of `reach_` pixels.
  HWY_NOINLINE void fill_line(const T* row, std::int64_t first, std::int64_t end, std::int64_t row_samples) {
    const std::int64_t margin = radius_ * step_;
    const std::int64_t from = std::max<std::int64_t>(0, first - margin);
    const std::int64_t to = std::min(row_samples, end + margin);
    T* const inside = line_ + (from - (first - margin));
    T* const after = std::copy(row + from, row + to, inside);
    for (std::int64_t x = inside - line_ - 1; x >= 0; --x) line_[x] = line_[x + step_];
    for (std::int64_t x = 0; x < end + margin - to; ++x) after[x] = after[x - step_];
    for (reach_ = 1; 2 * reach_ <= side_; reach_ *= 2)
      fill(line_, line_ + reach_ * step_, stride_ + side_ * step_, line_);
  }

  // Stores the line in the next slot. out: the output row whose window it completes.
  HWY_NOINLINE void take_line(const T* next, std::int64_t samples, T* out) {
    T* const latest = ring_ + slot_ * stride_;
    const bool complete = slot_ + 1 == side_;
    const T* const rest = complete ? latest : latest + stride_;
    const T* const begin = line_;
    const T* const end = begin + (side_ - reach_) * step_;
    T* const so_far = so_far_;
    const T* const before = slot_ == 0 ? latest : so_far;
    store_row(D(), samples, out, [&](std::int64_t x) HWY_ATTR {
      hwy::Prefetch(next + x);
      const auto v = of_two(begin + x, end + x);
      hn::StoreU(v, D(), latest + x);
      const auto block = extreme_(v, hn::LoadU(D(), before + x));
      hn::StoreU(block, D(), so_far + x);
      return extreme_(block, hn::LoadU(D(), rest + x));
    });
    slot_ = complete ? 0 : slot_ + 1;
    for (std::int64_t slot = side_ - 2; complete && slot >= 0; --slot) {
      T* row = ring_ + slot * stride_;
      fill(row, row + stride_, stride_, row);
    }
  }

  std::int64_t radius_, side_, lanes_ = lanes_of(D());
  std::int64_t step_ = 1;  // samples from a pixel to the next
  std::int64_t reach_ = 0, stride_ = 0, slot_ = 0;
  Extreme extreme_;
  alignas(64) T line_[kExtremesCapacity], so_far_[kExtremesCapacity], unused_[kExtremesCapacity],
      ring_[kRingSamples];
};

// A Window for RowPair: the extreme. column() leaves it in v[0]; v[1] and v[2] are not used.
template <class Extreme>
struct Extreme3x3 {
  Extreme extreme;

  template <class V>
  HWY_INLINE void column(V* v) const {
    v[0] = result(v);
  }
  template <class V>
  HWY_INLINE V result(const V* v) const {
    return extreme(extreme(v[0], v[1]), v[2]);
  }
};

// extreme: returns the least or the greatest of each pair of lanes of two vectors.
template <class Extreme>
void find_extremes(const StageCall<Host>& call, const Band& band, int radius, const Extreme& extreme) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    const std::int64_t height = call.in.type.height;
    if (radius == 1) {
      for_color_planes<T>(call, [&](const auto& in, const auto& out) {
        compute_3x3(in, out, height, band, Extreme3x3<Extreme>{extreme});
      });
    } else {
      WindowExtremes<T, Extreme> extremes(radius, extreme);
      for_color_planes<T>(call,
                          [&](const auto& in, const auto& out) { extremes.run(in, out, height, band); });
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
