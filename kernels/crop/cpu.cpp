#include <cstring>

#include "kernels/crop/crop.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {

void crop_cpu(const StageCall<Host>& call, const Band& band) {
  const CropParameters wanted(call.parameters);
  const FrameType& type = call.in.type;
  const std::int64_t left = crop_offset(wanted.x, wanted.width, type.width);
  const std::int64_t top = crop_offset(wanted.y, wanted.height, type.height);
  for (int i = 0; i < moved_planes(type); ++i) {
    const std::size_t plane = plane_of_channel(type, i);
    const ConstHostView& in = call.in.planes[plane];
    const HostView& out = call.out.planes[plane];
    for (std::int64_t y = band.first; y < band.end; ++y) {
      std::memcpy(out.row(y - band.out_top), in.row(y + top - band.in_top) + left * pixel_bytes(in),
                  static_cast<std::size_t>(out.row_bytes()));
    }
  }
}

}  // namespace imgpipe
