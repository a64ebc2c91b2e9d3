#include <algorithm>
#include <cstring>

#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/shared/color.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {
namespace {

// Writes `bytes` bytes of equal pixels.
void fill_pixels(std::byte* to, std::int64_t bytes, const ColorPixel& pixel) {
  if (bytes <= 0) return;
  std::memcpy(to, pixel.data.data(), static_cast<std::size_t>(pixel.bytes));
  for (std::int64_t filled = pixel.bytes; filled < bytes; filled *= 2)
    std::memcpy(to + filled, to, static_cast<std::size_t>(std::min(filled, bytes - filled)));
}

void canvas_cpu(const StageCall<Host>& call, const Band& band, const Canvas& canvas) {
  const FrameType& type = call.in.type;
  // The output pixels that come from the input: first..end-1 of a row.
  const std::int64_t width = call.out.type.width;
  const std::int64_t first = std::clamp<std::int64_t>(-canvas.left, 0, width);
  const std::int64_t end = std::clamp(type.width - canvas.left, first, width);
  for (int i = 0; i < moved_planes(type); ++i) {
    const std::size_t plane = plane_of_channel(type, i);
    const ConstHostView& in = call.in.planes[plane];
    const HostView& out = call.out.planes[plane];
    const ColorPixel pixel = color_pixel(canvas.color, type, i);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      std::byte* const to = out.row(y - band.out_top);
      const std::int64_t from = y + canvas.top;
      if (from < 0 || from >= type.height) {
        fill_pixels(to, out.row_bytes(), pixel);
        continue;
      }
      fill_pixels(to, first * pixel.bytes, pixel);
      if (first < end) {
        std::memcpy(to + first * pixel.bytes,
                    in.row(from - band.in_top) + (first + canvas.left) * pixel.bytes,
                    static_cast<std::size_t>((end - first) * pixel.bytes));
      }
      fill_pixels(to + end * pixel.bytes, (width - end) * pixel.bytes, pixel);
    }
  }
}

}  // namespace

void crop_cpu(const StageCall<Host>& call, const Band& band) {
  canvas_cpu(call, band, crop_canvas(call.in.type, call.parameters));
}

void pad_cpu(const StageCall<Host>& call, const Band& band) {
  canvas_cpu(call, band, pad_canvas(call.in.type, call.parameters));
}

}  // namespace imgpipe
