#include "kernels/gamma/gamma.h"
#include "kernels/lookup16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gamma/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void gamma_rows(const StageCall<Host>& call, const Band& band) {
  const auto* table = call.prepared.as<Sample>();
  for (int c = 0; c < call.in.type.color_channels; ++c) look_up_plane(call, band, c, table);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(gamma_rows);

void gamma_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gamma_rows)(call, band);
}

void gamma16_cpu(const StageCall<Host>& call, const Band& band) {
  const auto* table = call.prepared.as<Sample16>();
  for (int c = 0; c < call.in.type.color_channels; ++c) look_up_plane16(call, band, c, table);
}

}  // namespace imgpipe
#endif
