// What stands before the pixels of a BMP file, read and judged.
//
// Windows bitmaps have a header of 40, 52, 56, 108 or 124 bytes (Microsoft, "Bitmap Header Types"), OS/2 1.x
// ones 12 and OS/2 2.x ones 16 to 64 (IBM, "Presentation Manager Programming Reference", BITMAPINFOHEADER2).
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
  std::uint32_t header_bytes = 0;  // tells the versions apart
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool top_down = false;
  int bits = 0;  // of a pixel: 1, 2, 4, 8 (an index), 16, 24 or 32
  BmpPacking packing = BmpPacking::none;
  std::size_t pixels_at = 0;  // where they begin; may be behind the end of a file that is cut
  // Pixels per metre; 0: not stated.
  std::uint32_t x_resolution = 0, y_resolution = 0;
  // The ICC profile of a header of 124 bytes, or the name of a file that holds it.
  std::uint64_t profile_at = 0;
  std::uint32_t profile_bytes = 0;  // 0: none
  bool profile_is_linked = false;
  // Of 16 and 32 bits: where red, green, blue and alpha are in a pixel, each one run of bits, apart from one
  // another; 0 where the file has no such channel.
  std::array<std::uint32_t, 4> masks{};
  std::vector<Palette::Color> palette;  // of up to 8 bits; never empty there, and perhaps too short
  std::vector<std::string> warnings;    // lenient: what was let pass

  // Bytes of an unpacked row: rows end on a multiple of four.
  [[nodiscard]] std::int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
  [[nodiscard]] bool indexed() const { return bits <= 8; }
  [[nodiscard]] int channels() const { return masks[3] != 0 ? 4 : 3; }
};

// Where a file ends whose pixels end at `pixels_end`: after its profile, and after padding that the size in
// its file header counts.
[[nodiscard]] std::size_t bmp_end(std::span<const std::byte> file, const BmpHeader& header,
                                  std::size_t pixels_end);

// Reads all that stands before the pixels of a file which begins with "BM". Throws Error(input) for what is
// damaged, cut or not supported; `lenient` lets pass, with a warning, what leaves no doubt about the pixels.
// The caller judges the size of the image and whether its pixels are all there.
[[nodiscard]] BmpHeader read_bmp_header(std::span<const std::byte> bytes, bool lenient);

}  // namespace imgpipe
