#include "kernels/invert/invert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/invert/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void invert_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    map_plane(call, band, c, [](V8 v) HWY_ATTR { return hn::Not(v); });
  }
}

void invert16_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    map_plane16<Sample16, Sample16>(call, band, static_cast<std::size_t>(c),
                                    [](V16 v) HWY_ATTR { return hn::Not(v); });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(invert_rows);
HWY_EXPORT(invert16_rows);

void invert_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(invert_rows)(call, band);
}

void invert16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(invert16_rows)(call, band);
}

}  // namespace imgpipe
#endif
