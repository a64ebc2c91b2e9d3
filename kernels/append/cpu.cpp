#include <cstring>

#include "kernels/append/append.h"

namespace imgpipe {

// Copying needs no SIMD code.
void append_cpu(const StageCall<Host>& call, const Band& band) {
  const FrameType& type = call.in.type;
  const SecondImage& second = *call.parameters.image;
  for (int c = 0; c < call.out.type.channels(); ++c) {
    const HostView& out = call.out.planes[plane_of_channel(call.out.type, c)];
    const auto row_bytes = static_cast<std::size_t>(out.row_bytes());
    const std::byte* const plane = call.table.data + (c - type.channels()) * second.plane_bytes();
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const void* const from = c < type.channels()
                                   ? call.in.planes[plane_of_channel(type, c)].row(y - band.in_top)
                                   : static_cast<const void*>(plane + y * second.stride_bytes());
      std::memcpy(out.row(y - band.out_top), from, row_bytes);
    }
  }
}

}  // namespace imgpipe
