#include <vector>

#include "kernels/equalize/equalize.h"
#include "kernels/lookup16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/equalize/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void equalize_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    HWY_ALIGN Sample own[kBins];
    const Sample* table =
        call.found.data == nullptr ? own : call.found.as<Sample>() + std::int64_t{c} * kBins;
    if (table == own) equalize_table(call.histogram.row(c), own);
    look_up_plane(call, band, c, table);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(equalize_rows);

void equalize_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(equalize_rows)(call, band);
}

void equalize16_cpu(const StageCall<Host>& call, const Band& band) {
  const std::int64_t bins = call.in.type.bins();
  const bool found = call.found.data != nullptr;
  std::vector<Sample16> own(static_cast<std::size_t>(found ? 0 : bins));
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    if (!found) equalize_table(call.histogram.row(c), own.data());
    const Sample16* table = found ? call.found.as<Sample16>() + c * bins : own.data();
    look_up_plane16(call, band, c, table);
  }
}

}  // namespace imgpipe
#endif
