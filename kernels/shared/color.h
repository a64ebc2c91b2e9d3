// Colours of parameters, as samples. For host and device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "images/luma.h"
#include "kernels/frame.h"
#include "kernels/shared/convert.h"

namespace imgpipe {

// A colour is 0xRRGGBBAA, 8 bits each.
inline constexpr std::int64_t kWhiteColor = 0xFFFFFFFF;  // opaque white

// Returns byte `i`: 0 red, 1 green, 2 blue, 3 alpha.
[[nodiscard]] constexpr Sample8 color_byte(std::int64_t color, int i) {
  return static_cast<Sample8>(color >> (24 - 8 * i));
}

// Returns the grey of a colour (Pillow's ImageColor.getcolor(color, "L")).
[[nodiscard]] constexpr Sample8 gray_of(std::int64_t color) {
  return luma_of<Sample8>(luma_weights(Luma::bt601), color_byte(color, 0), color_byte(color, 1),
                          color_byte(color, 2));
}
static_assert(gray_of(kWhiteColor) == 255 && gray_of(0xFF0000FF) == 76 && gray_of(0x00FF00FF) == 150);

// Returns the sample of channel c of a frame, alpha being the last channel.
template <class T>
[[nodiscard]] constexpr T color_sample(std::int64_t color, const FrameType& type, int c) {
  if (c == type.color_channels) return converted<T>(color_byte(color, 3));
  return converted<T>(type.color_channels == 1 ? gray_of(color) : color_byte(color, c));
}
static_assert(color_sample<Sample16>(0x01020304, {.color_channels = 3, .alpha = true}, 3) == 0x0404);
static_assert(color_sample<Sample8>(0x01020304, {.color_channels = 3}, 1) == 2);

// The bytes of a pixel of one plane; the first `bytes` of them count.
struct ColorPixel {
  std::array<std::byte, 16> data{};
  int bytes = 0;
};

// Returns the pixel of plane i of moved_planes().
[[nodiscard]] inline ColorPixel color_pixel(std::int64_t color, const FrameType& type, int i) {
  const int channels = type.layout == Layout::interleaved ? type.channels() : 1;
  ColorPixel pixel;
  visit_any_sample(type.sample, [&]<class T>(T) {
    for (int c = i; c < i + channels; ++c) {
      const T sample = color_sample<T>(color, type, c);
      std::memcpy(pixel.data.data() + pixel.bytes, &sample, sizeof sample);
      pixel.bytes += static_cast<int>(sizeof sample);
    }
  });
  return pixel;
}

}  // namespace imgpipe
