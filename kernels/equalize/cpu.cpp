#include <vector>

#include "kernels/equalize/equalize.h"

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
    const Sample* table = call.found.data == nullptr ? own : call.found.as<Sample>() + c * kBins;
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

// One by one: no shuffle looks up in so long a table, and gathering is no faster.
void equalize16_cpu(const StageCall<Host>& call, const Band& band) {
  const std::int64_t bins = call.in.type.bins();
  std::vector<Sample16> own;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const bool found = call.found.data != nullptr;
    if (!found) {
      own.resize(static_cast<std::size_t>(bins));
      equalize_table(call.histogram.row(c), own.data());
    }
    const Sample16* table = found ? call.found.as<Sample16>() + c * bins : own.data();
    const Plane<const Sample16, Host> in = call.in.plane<Sample16>(static_cast<std::size_t>(c));
    const Plane<Sample16, Host> out = call.out.plane<Sample16>(static_cast<std::size_t>(c));
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const Sample16* from = in.row(y - band.in_top);
      Sample16* to = out.row(y - band.out_top);
      for (std::int64_t x = 0; x < in.width; ++x) to[x] = table[from[x]];
    }
  }
}

}  // namespace imgpipe
#endif
