#include "kernels/depth/depth.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depth/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class From, class To>
void change_depth(const StageCall<Host>& call, const Band& band, std::size_t i) {
  if constexpr (kIsFloat<To>) {
    map_plane<From, To>(call, band, i, [](VFloat v) HWY_ATTR {
      return hn::Div(v, hn::Set(DFloat(), static_cast<float>(kLargest<From>)));
    });
  } else if constexpr (kIsFloat<From>) {
    map_plane<From, To>(call, band, i, [](VFloat v) HWY_ATTR {
      const DFloat d;
      const hn::RebindToSigned<DFloat> whole;
      const VFloat zero = hn::Zero(d);
      const VFloat one = hn::Set(d, 1.0F);
      const VFloat limited = hn::IfThenElse(hn::Gt(v, zero), hn::IfThenElse(hn::Lt(v, one), v, one), zero);
      const VFloat scaled = hn::Mul(limited, hn::Set(d, static_cast<float>(kLargest<To>)));
      const VFloat below = hn::ConvertTo(d, hn::ConvertTo(whole, scaled));
      const auto up = hn::Ge(hn::Sub(scaled, below), hn::Set(d, 0.5F));
      return hn::Add(below, hn::IfThenElse(up, one, zero));
    });
  } else {
    convert_plane<From, To>(call, band, i);
  }
}

template <class From, class To>
void change_planes(const StageCall<Host>& call, const Band& band) {
  for (std::size_t i = 0; i < call.in.planes.size(); ++i) {
    if (!call.in.planes[i].empty()) change_depth<From, To>(call, band, i);
  }
}

void depth_rows(const StageCall<Host>& call, const Band& band) {
  visit_depth(call, [&]<class From, class To>(From, To) HWY_ATTR { change_planes<From, To>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(depth)
#endif
