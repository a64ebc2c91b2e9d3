#include "kernels/invert/invert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/invert/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void invert_planes(const StageCall<Host>& call, const Band& band) {
  map_color_planes<T>(call, band, [](auto v) HWY_ATTR { return hn::Not(v); });
}

void invert_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { invert_planes<T>(call, band); });
}

void invert_f32_rows(const StageCall<Host>& call, const Band& band) {
  map_color_planes<float>(call, band,
                          [](VFloat v) HWY_ATTR { return canonical(hn::Sub(hn::Set(DFloat(), 1.0F), v)); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(invert)
IMGPIPE_DISPATCH(invert_f32)
#endif
