// flip: copies rows, or reverses them in SIMD.
#include "kernels/flip/flip.h"
#include "kernels/shared/moved_planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/flip/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/reversed_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void flip_rows(const StageCall<Host>& call, const Band& band) {
  const bool vertical = FlipParameters(call.parameters).direction == FlipDirection::vertical;
  for (int i = 0; i < moved_planes(call.in.type); ++i) {
    const std::size_t plane = plane_of_channel(call.in.type, i);
    const ConstHostView& in = call.in.planes[plane];
    const HostView& out = call.out.planes[plane];
    // Upwards, so that prefetching at the end of an input row reaches the next one to be read.
    for (std::int64_t y = band.end; y-- > band.first;) {
      std::byte* const to = out.row(y - band.out_top);
      if (vertical) {
        const std::byte* const from = in.row(mirrored(y, call.in.type.height) - band.in_top);
        copy_row(from, out.row_bytes(), band.bypasses_caches, to);
      } else {
        reverse_row(in.row(y - band.in_top), in.width, pixel_bytes(in), band.bypasses_caches, to);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(flip)
#endif
