#include "kernels/colormap/colormap.h"
#include "kernels/shared/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colormap/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/lookup-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kIndexes = 4096;  // 16-bit samples that are rounded at a time

template <class T>
void look_up_colors(const T* in, std::int64_t width, const Sample8* table, Sample8* const (&out)[3]) {
  if constexpr (kIsWide<T>) {
    Sample8 indexes[kIndexes];
    for (std::int64_t first = 0; first < width; first += kIndexes) {
      const std::int64_t count = width - first < kIndexes ? width - first : kIndexes;
      for (std::int64_t x = 0; x < count; ++x) indexes[x] = converted<Sample8>(in[first + x]);
      look_up_colors<Sample8>(indexes, count, table, {out[0] + first, out[1] + first, out[2] + first});
    }
  } else {
    for (int c = 0; c < 3; ++c) look_up_row(in, width, false, table + std::ptrdiff_t{c} * kBins, out[c]);
  }
}

template <class T>
void map_to_colors(const StageCall<Host>& call, const Band& band) {
  const Plane<const T, Host> in = call.in.plane<T>(0);
  const auto row = [&](std::size_t c, std::int64_t y) {
    return call.out.plane<Sample8>(c).row(y - band.out_top);
  };
  for (std::int64_t y = band.first; y < band.end; ++y)
    look_up_colors<T>(in.row(y - band.in_top), in.width, call.table.as<Sample8>(),
                      {row(0, y), row(1, y), row(2, y)});
}

void colormap_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { map_to_colors<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(colormap)
#endif
