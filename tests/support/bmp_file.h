// BMP files put together field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/decoding.h"

namespace imgpipe::test {

// The fields of a BMP file; build() puts them together. Sides and bits are as in the header.
struct Bmp {
  std::uint32_t header_bytes = 40;
  int width = 1;
  int height = 1;
  int bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t colors = 0;
  std::vector<std::uint32_t> masks;  // in the header where it has room for them, else behind it
  Values palette;                    // bytes as stored
  Values pixels;                     // bytes as stored
  int planes = 1;
  std::optional<std::uint32_t> pixels_at;

  [[nodiscard]] FileBytes build() const;
};

// The red, green and blue of entry i of the palettes made here.
[[nodiscard]] Values color_of(int i);
// The bytes of a palette of `count` such colours, of 3 or 4 bytes each.
[[nodiscard]] Values palette_bytes(int count, int entry_bytes);
// 2x1 pixels of 8 bits, 0 and 1, whose palette has two colours.
[[nodiscard]] Bmp two_colors();

}  // namespace imgpipe::test
