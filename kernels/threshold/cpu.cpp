#include "kernels/threshold/threshold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/threshold/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void threshold_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto at = static_cast<Sample>(threshold_of(call, c));
    map_plane(call, band, c, [at](V8 v) HWY_ATTR {
      const D8 d;
      return hn::VecFromMask(d, hn::Gt(v, hn::Set(d, at)));
    });
  }
}

void threshold16_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto at = static_cast<Sample16>(threshold_of(call, c));
    map_plane16<Sample16, Sample16>(call, band, static_cast<std::size_t>(c), [at](V16 v) HWY_ATTR {
      const D16 d;
      return hn::VecFromMask(d, hn::Gt(v, hn::Set(d, at)));
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(threshold_rows);
HWY_EXPORT(threshold16_rows);

void threshold_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(threshold_rows)(call, band);
}

void threshold16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(threshold16_rows)(call, band);
}

}  // namespace imgpipe
#endif
