// gauss in SIMD: rows-inl.h.
#include "kernels/gauss/gauss.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gauss/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/gauss/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void gauss_planes(const StageCall<Host>& call, const Band& band) {
  const GaussParameters parameters(call.parameters);
  const GaussPairs pairs(call.prepared.as<std::uint32_t>(), gauss_radius(parameters.sigma));
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto plane = static_cast<std::size_t>(c);
    GaussRows<T>(call.in.plane<T>(plane), call.out.plane<T>(plane), call.in.type, parameters.border, pairs,
                 band)
        .run([](const T*, const T*, std::int64_t) {});
  }
}

void gauss_rows(const StageCall<Host>& call, const Band& band) {
  gauss_planes<Sample>(call, band);
}

void gauss16_rows(const StageCall<Host>& call, const Band& band) {
  gauss_planes<Sample16>(call, band);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(gauss_rows);
HWY_EXPORT(gauss16_rows);

void gauss_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gauss_rows)(call, band);
}

void gauss16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gauss16_rows)(call, band);
}

}  // namespace imgpipe
#endif
