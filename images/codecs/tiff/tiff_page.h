// One image of a TIFF file, as its directory describes it: judged, so that everything behind can rely on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

enum class TiffCompression : std::uint16_t {
  none = 1,
  ccitt_rle = 2,
  ccitt_t4 = 3,
  ccitt_t6 = 4,
  lzw = 5,
  jpeg = 7,
  deflate = 8,
  old_deflate = 32946,  // the same as deflate
  packbits = 32773,
  ccitt_rle_words = 32771,
  zstd = 50000,
};

enum class TiffColor : std::uint16_t {
  white_is_zero = 0,
  black_is_zero = 1,
  rgb = 2,
  palette = 3,
  cmyk = 5,
  ycbcr = 6,
};

enum class TiffAlpha { none, straight, premultiplied };

// What ExtraSamples says of a sample after the colours.
enum class TiffExtra { unspecified, premultiplied, straight, not_stated };

// A chunk is a strip or a tile. A cell is a place for one in the image: with separate planes it has a chunk
// of every sample, else one.
struct TiffPage {
  std::int64_t width = 0, height = 0;
  int bits = 1;     // of a sample
  int samples = 1;  // of a pixel
  TiffColor color = TiffColor::black_is_zero;
  TiffValues extra_samples;  // the field
  // What the rows are made of: `shown` is `color`, or grey or RGB of samples that were chosen. `source`: the
  // samples of its colours, then alpha.
  TiffColor shown = TiffColor::black_is_zero;
  TiffAlpha alpha = TiffAlpha::none;
  std::array<std::uint8_t, 5> source{0, 1, 2, 3, 4};
  std::string bands_needed;  // why the image has to be refused without --bands; empty: it has not
  TiffCompression compression = TiffCompression::none;
  bool separate = false;   // each sample has its own chunks
  bool predicted = false;  // horizontal differencing
  bool reversed_bits = false;
  bool big_endian = false;
  bool tiled = false;
  std::int64_t cell_width = 0, cell_height = 0;
  std::int64_t across = 1, down = 1;  // cells
  TiffValues offsets, counts;         // of chunks: one plane after the other, each row by row
  TiffValues color_map;               // 16 bits: reds, greens, blues, 2^bits each
  std::uint32_t t4_options = 0;
  Bytes jpeg_tables;
  Bytes profile;
  Orientation orientation = Orientation::upright;
  bool more_pages = false;

  [[nodiscard]] static int colors_of(TiffColor color) {
    return color == TiffColor::rgb || color == TiffColor::ycbcr ? 3 : color == TiffColor::cmyk ? 4 : 1;
  }
  [[nodiscard]] int colors() const { return colors_of(color); }
  // Of the samples after the colours, from 0.
  [[nodiscard]] TiffExtra extra(int number) const;
  [[nodiscard]] int planes() const { return separate ? samples : 1; }
  [[nodiscard]] int samples_in_chunk() const { return separate ? 1 : samples; }
  // Of one row of a chunk, and of a chunk, unpacked.
  [[nodiscard]] std::int64_t chunk_row_bytes() const {
    return (cell_width * samples_in_chunk() * bits + 7) / 8;
  }
  [[nodiscard]] std::int64_t chunk_bytes(std::int64_t rows) const { return chunk_row_bytes() * rows; }
  // How many rows a chunk of a row of cells holds: a strip ends with the image, a tile does not.
  [[nodiscard]] std::int64_t chunk_rows(std::int64_t cell_row) const {
    return tiled ? cell_height : std::min(cell_height, height - cell_row * cell_height);
  }
  // How many of them are rows of the image.
  [[nodiscard]] std::int64_t image_rows(std::int64_t cell_row) const {
    return std::min(cell_height, height - cell_row * cell_height);
  }
  [[nodiscard]] std::size_t chunk_number(std::int64_t cell_row, std::int64_t column, int plane) const {
    return static_cast<std::size_t>((plane * down + cell_row) * across + column);
  }
};

// The page whose directory begins at `offset`. Throws Error(input) for what is not supported, saying what it
// is, and for what contradicts itself. Strict: every chunk lies in the file.
[[nodiscard]] TiffPage read_tiff_page(Bytes file, std::uint64_t offset, const DecodeOptions& options);

}  // namespace imgpipe
