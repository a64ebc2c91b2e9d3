#include "kernels/levels/levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/levels/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void levels_f32_rows(const StageCall<Host>& call, const Band& band) {
  const FloatLevels levels = FloatLevels::of(call.parameters);
  map_color_planes<float>(call, band, [levels](VFloat v) HWY_ATTR {
    const DFloat d;
    const VFloat lo = hn::Set(d, levels.lo);
    const VFloat hi = hn::Set(d, levels.hi);
    const VFloat between = canonical(hn::Div(hn::Sub(v, lo), hn::Sub(hi, lo)));
    const VFloat limited = hn::IfThenElse(hn::Ge(v, hi), hn::Set(d, 1.0F), between);
    return hn::IfThenElse(hn::Le(v, lo), hn::Zero(d), limited);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(levels_f32)
#endif
