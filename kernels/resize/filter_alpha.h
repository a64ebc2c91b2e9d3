// Pillow's integer rules for colours that are multiplied by alpha (RGBA to RGBa in Convert.c, and back).
#pragma once

#include <cstdint>

#include "kernels/pixel.h"

namespace imgpipe {

[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr Sample8 premultiplied(std::uint32_t color, std::uint32_t alpha) {
  const std::uint32_t product = color * alpha + 128;
  return static_cast<Sample8>(((product >> 8) + product) >> 8);
}

[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr Sample8 unpremultiplied(std::uint32_t color,
                                                                    std::uint32_t alpha) {
  if (alpha == 0 || alpha == kMaxSample) return static_cast<Sample8>(color);
  const std::uint32_t quotient = kMaxSample * color / alpha;
  return static_cast<Sample8>(quotient < kMaxSample ? quotient : kMaxSample);
}

}  // namespace imgpipe
