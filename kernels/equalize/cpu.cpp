#include <vector>

#include "kernels/equalize/equalize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/equalize/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void equalize_planes(const StageCall<Host>& call, const Band& band) {
  const std::int64_t bins = call.in.type.bins();
  const bool found = call.found.data != nullptr;
  std::vector<T> own(static_cast<std::size_t>(found ? 0 : bins));
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    if (!found) equalize_table(call.histogram.row(c), own.data());
    const T* table = found ? call.found.as<T>() + c * bins : own.data();
    look_up_plane(call, band, static_cast<std::size_t>(c), table);
  }
}

void equalize_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { equalize_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(equalize)
#endif
