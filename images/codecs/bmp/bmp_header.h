// Reads and checks the headers of a BMP file: everything before the pixels.
//
// Windows bitmaps have a header of 40, 52, 56, 108 or 124 bytes (Microsoft, "Bitmap Header Types"). The
// header has 12 bytes in OS/2 1.x and 16 to 64 in OS/2 2.x (IBM, "Presentation Manager Programming
// Reference", BITMAPINFOHEADER2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/palette.h"

namespace imgpipe {

inline constexpr std::uint32_t kBmpFileHeaderBytes = 14;  // "BITMAPFILEHEADER"

enum class BmpPacking { none, rle8, rle4 };

struct BmpHeader {
  std::uint32_t header_bytes = 0;  // identifies the version
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool top_down = false;
  int bits = 0;  // per pixel: 1, 2, 4, 8 (an index), 16, 24 or 32
  BmpPacking packing = BmpPacking::none;
  std::size_t pixels_at = 0;  // offset; beyond the end in a truncated file
  // Pixels per metre; 0: not stated.
  std::uint32_t x_resolution = 0, y_resolution = 0;
  // The offset of the ICC profile, or of the name of the file that contains it (124-byte headers only).
  std::uint64_t profile_at = 0;
  std::uint32_t profile_bytes = 0;  // 0: none
  bool profile_is_linked = false;
  // For 16 and 32 bits: the masks of red, green, blue and alpha. Each is a single run of bits; they do not
  // overlap. 0: no such channel.
  std::array<std::uint32_t, 4> masks{};
  std::vector<Palette::Color> palette;  // for up to 8 bits: not empty, but may be too short
  std::vector<std::string> warnings;    // tolerated problems (lenient)

  // Bytes of an uncompressed row, padded to a multiple of four.
  [[nodiscard]] std::int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
  [[nodiscard]] bool indexed() const { return bits <= 8; }
  [[nodiscard]] int channels() const { return masks[3] != 0 ? 4 : 3; }
};

// Returns the end of a file with pixels up to `pixels_end`, including its profile and declared padding.
[[nodiscard]] std::size_t bmp_end(std::span<const std::byte> file, const BmpHeader& header,
                                  std::size_t pixels_end);

// Reads everything before the pixels of a file that begins with "BM". Throws Error(input) for damaged,
// truncated or unsupported headers; `lenient` turns defects that leave the pixels unambiguous into warnings.
// The caller must check the image size and whether the pixels are complete.
[[nodiscard]] BmpHeader read_bmp_header(std::span<const std::byte> bytes, bool lenient);

}  // namespace imgpipe
