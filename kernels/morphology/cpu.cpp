#include "kernels/morphology/morphology.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/morphology/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/window_extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void erode_rows(const StageCall<Host>& call, const Band& band) {
  find_extremes(call, band, window_radius(call.parameters),
                [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); });
}

void dilate_rows(const StageCall<Host>& call, const Band& band) {
  find_extremes(call, band, window_radius(call.parameters),
                [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(erode)
IMGPIPE_DISPATCH(dilate)
#endif
