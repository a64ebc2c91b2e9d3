// BMP files composed field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/decoding.h"

namespace imgpipe::test {

// The fields of a BMP file, as in its header; build() composes them.
struct Bmp {
  std::uint32_t header_bytes = 40;
  int width = 1;
  int height = 1;
  int bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t colors = 0;
  std::vector<std::uint32_t> masks;  // in the header if it has space for them, else after it
  Values palette;                    // bytes as stored
  Values pixels;                     // bytes as stored
  int planes = 1;
  std::optional<std::uint32_t> pixels_at;

  [[nodiscard]] FileBytes build() const;
};

// Returns the red, green and blue of entry i of the palettes made here.
[[nodiscard]] Values color_of(int i);
// Returns the bytes of a palette of `count` such colours, with 3 or 4 bytes each.
[[nodiscard]] Values palette_bytes(int count, int entry_bytes);
// An image of 2x1 pixels of 8 bits, 0 and 1, with a palette of two colours.
[[nodiscard]] Bmp two_colors();

}  // namespace imgpipe::test
