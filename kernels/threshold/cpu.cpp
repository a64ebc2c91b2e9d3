#include "kernels/threshold/threshold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/threshold/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void threshold_planes(const StageCall<Host>& call, const Band& band) {
  const int given = ThresholdParameters(call.parameters).at;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto at = static_cast<T>(given == kOtsu ? call.table.as<int>()[c] : given);
    map_plane<T, T>(call, band, static_cast<std::size_t>(c), [at](auto v) HWY_ATTR {
      const hn::DFromV<decltype(v)> d;
      return hn::VecFromMask(d, hn::Gt(v, hn::Set(d, at)));
    });
  }
}

void threshold_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { threshold_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(threshold)
#endif
