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

template <class From>
void convert_planes(const StageCall<Host>& call, const Band& band) {
  for (std::size_t i = 0; i < call.in.planes.size(); ++i) {
    if (!call.in.planes[i].empty()) convert_plane<From, DepthTo<From>>(call, band, i);
  }
}

void depth_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class From>(From) HWY_ATTR { convert_planes<From>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(depth)
#endif
