#include "kernels/colormap/colormap.h"
#include "kernels/shared/convert.h"

namespace imgpipe {

std::string_view colormap_infer(const FrameType& in, const Parameters&, FrameType& out) {
  out.sample = Sample::u8;
  out.color_channels = 3;
  out.alpha = false;
  return in.color_channels == 1 ? "" : "the image has colours; insert gray before it";
}

std::int64_t colormap_table_bytes(const FrameType&, const Parameters&) {
  return std::int64_t{3} * kBins;
}

void colormap_table(const StageCall<Host>& call, const Band&) {
  const ColorMapColors& colors = colors_of(call.parameters.as<ColorMap>(0));
  auto* to = call.table.as<Sample8>();
  for (const int shift : {16, 8, 0}) {
    for (const std::uint32_t color : colors) *to++ = static_cast<Sample8>(color >> shift);
  }
}

void colormap_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    const Plane<const T, Host> in = call.in.plane<T>(0);
    for (std::size_t c = 0; c < 3; ++c) {
      const Sample8* const color = call.table.as<Sample8>() + c * kBins;
      const Plane<Sample8, Host> out = call.out.plane<Sample8>(c);
      for (std::int64_t y = 0; y < in.height; ++y) {
        for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = color[converted<Sample8>(in.row(y)[x])];
      }
    }
  });
}

}  // namespace imgpipe
