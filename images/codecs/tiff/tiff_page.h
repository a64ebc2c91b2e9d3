// One image of a TIFF file, from its directory: checked, so that later code can rely on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/stored_samples.h"
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

// The meaning of a sample after the colours, from ExtraSamples.
enum class TiffExtra { unspecified, premultiplied, straight, not_stated };

// A chunk is a strip or a tile. A cell is the area that a chunk covers; it has one chunk per plane (one plane
// per sample if `separate`, else one).
struct TiffPage {
  std::int64_t width = 0, height = 0;
  int bits = 1;                    // per sample
  std::optional<StoredType> type;  // nullopt: unsigned integers of 1 to 16 bits
  int samples = 1;                 // per pixel
  TiffColor color = TiffColor::black_is_zero;
  TiffValues extra_samples;  // the field
  // The samples that rows consist of. `shown`: `color`, or grey or RGB for chosen bands. `source`: the sample
  // numbers of the colours, then alpha.
  TiffColor shown = TiffColor::black_is_zero;
  TiffAlpha alpha = TiffAlpha::none;
  std::array<std::uint8_t, 5> source{0, 1, 2, 3, 4};
  std::string bands_needed;  // why the image is rejected without --bands; empty: it is not
  TiffCompression compression = TiffCompression::none;
  bool separate = false;   // each sample has its own chunks
  bool predicted = false;  // horizontal differencing, or the floating-point predictor
  bool float_predicted = false;
  bool reversed_bits = false;
  bool big_endian = false;
  bool tiled = false;
  std::int64_t cell_width = 0, cell_height = 0;
  std::int64_t across = 1, down = 1;  // number of cells
  TiffValues offsets, counts;         // of chunks: plane by plane, each row by row
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
  // Returns the meaning of the sample `number`, counting from 0 after the colours.
  [[nodiscard]] TiffExtra extra(int number) const;
  [[nodiscard]] int planes() const { return separate ? samples : 1; }
  [[nodiscard]] int samples_in_chunk() const { return separate ? 1 : samples; }
  // Uncompressed size of a chunk's row, and of a chunk.
  [[nodiscard]] std::int64_t chunk_row_bytes() const {
    return (cell_width * samples_in_chunk() * bits + 7) / 8;
  }
  [[nodiscard]] std::int64_t chunk_bytes(std::int64_t rows) const { return chunk_row_bytes() * rows; }
  // The number of rows in a chunk: a strip ends with the image, a tile does not.
  [[nodiscard]] std::int64_t chunk_rows(std::int64_t cell_row) const {
    return tiled ? cell_height : std::min(cell_height, height - cell_row * cell_height);
  }
  // The number of a chunk's rows inside the image.
  [[nodiscard]] std::int64_t image_rows(std::int64_t cell_row) const {
    return std::min(cell_height, height - cell_row * cell_height);
  }
  [[nodiscard]] std::size_t chunk_number(std::int64_t cell_row, std::int64_t column, int plane) const {
    return static_cast<std::size_t>((plane * down + cell_row) * across + column);
  }
};

// Reads the page whose directory is at `offset`. Throws Error(input) for unsupported or contradictory values.
// If not lenient, every chunk is inside the file. With DecodeOptions::bands_of_page, a page whose samples are
// stored separately has the selected sample alone.
[[nodiscard]] TiffPage read_tiff_page(Bytes file, std::uint64_t offset, const DecodeOptions& options);

}  // namespace imgpipe
