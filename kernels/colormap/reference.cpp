#include "kernels/colormap/colormap.h"
#include "kernels/second_image.h"
#include "kernels/shared/convert.h"

namespace imgpipe {

namespace {

// Returns the colours of a map of 256x1 or 1x256 pixels, grey or RGB.
void copy_map(const SecondImage& map, Sample8* to) {
  const std::int64_t step = map.type.width == kBins ? 1 : map.stride_bytes();
  for (int c = 0; c < 3; ++c) {
    const std::byte* from = map.planes.data() + (map.type.color_channels == 1 ? 0 : c) * map.plane_bytes();
    for (int v = 0; v < kBins; ++v) *to++ = static_cast<Sample8>(from[v * step]);
  }
}

bool is_map(const FrameType& type) {
  const bool is_line = (type.width == kBins && type.height == 1) || (type.width == 1 && type.height == kBins);
  return is_line && !type.alpha && is_byte(type.sample);
}

}  // namespace

std::string_view colormap_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  out.sample = Sample::u8;
  out.color_channels = 3;
  out.alpha = false;
  if (parameters.image != nullptr && !is_map(parameters.image->type))
    return "a map has 256x1 or 1x256 pixels of 8 bits without alpha; resize the map, or use depth:8 or rgb "
           "in its "
           "stages";
  return in.color_channels == 1 ? "" : "the image has colours; insert gray before it";
}

std::int64_t colormap_table_bytes(const FrameType&, const Parameters&) {
  return std::int64_t{3} * kBins;
}

void colormap_table(const StageCall<Host>& call, const Band&) {
  if (const SecondImage* const map = call.parameters.image) return copy_map(*map, call.table.as<Sample8>());
  const ColorMapColors& colors = colors_of(static_cast<ColorMap>(-1 - call.parameters[0]));
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
