// The least and the greatest sample of each colour plane, instead of counts.
#include <algorithm>

#include "kernels/hist/hist.h"
#include "kernels/shared/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/hist/extremes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void count_extremes(const Plane<const T, Host>& plane, const Band& band, std::uint64_t* counts) {
  const hn::ScalableTag<T> d;
  auto least = hn::Set(d, kLargest<T>);
  auto greatest = hn::Zero(d);
  T lo = kLargest<T>;
  T hi = 0;
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const T* const row = plane.row(y - band.in_top);
    const auto vector = [&](std::int64_t x) HWY_ATTR {
      prefetch_ahead(row + x);
      const auto v = hn::LoadU(d, row + x);
      least = hn::Min(least, v);
      greatest = hn::Max(greatest, v);
    };
    for_row(plane.width, lanes_of(d), vector, [&] {
      const auto [low, high] = std::minmax_element(row, row + plane.width);
      lo = std::min(lo, *low);
      hi = std::max(hi, *high);
    });
  }
  HWY_ALIGN T lows[hn::MaxLanes(hn::ScalableTag<T>())];
  HWY_ALIGN T highs[hn::MaxLanes(hn::ScalableTag<T>())];
  hn::Store(least, d, lows);
  hn::Store(greatest, d, highs);
  lo = std::min(lo, *std::min_element(lows, lows + hn::Lanes(d)));
  hi = std::max(hi, *std::max_element(highs, highs + hn::Lanes(d)));
  ++counts[lo];
  ++counts[hi];
}

void hist_extremes_rows(const StageCall<Host>& call, const Band& band) {
  if (band.first >= band.end) return;
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    for (int c = 0; c < call.in.type.color_channels; ++c)
      count_extremes(call.in.plane<T>(static_cast<std::size_t>(c)), band, call.histogram.row(c));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(hist_extremes)
#endif
