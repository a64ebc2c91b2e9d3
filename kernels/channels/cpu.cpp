#include <cstring>

#include "kernels/channels/channels.h"

namespace imgpipe {

// Copying needs no SIMD code.
void channels_cpu(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.out.type.color_channels; ++c) {
    const ConstHostView& in = call.in.planes[copied_plane(call.in.type, call.out.type, call.parameters, c)];
    const HostView& out = call.out.planes[static_cast<std::size_t>(c)];
    for (std::int64_t y = band.first; y < band.end; ++y)
      std::memcpy(out.row(y - band.out_top), in.row(y - band.in_top),
                  static_cast<std::size_t>(out.row_bytes()));
  }
}

}  // namespace imgpipe
