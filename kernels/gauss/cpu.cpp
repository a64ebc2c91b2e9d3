#include "kernels/gauss/gauss.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gauss/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/gauss_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void gauss_planes(const StageCall<Host>& call, const Band& band) {
  const GaussParameters parameters(call.parameters);
  const GaussPairs pairs(call.table.as<std::uint32_t>(), gauss_radius(parameters.sigma));
  for_color_planes<T>(call, [&](const auto& in, const auto& out) {
    GaussRows<T>(in, out, call.in.type, parameters.border, pairs, band)
        .run([](const T*, const T*, std::int64_t) {});
  });
}

void gauss_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { gauss_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(gauss)
#endif
