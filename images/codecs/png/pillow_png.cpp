#include "images/codecs/png/pillow_png.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/pillow_orientation.h"
#include "images/codecs/png/pillow_png_chunks.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_codec.h"
#include "images/codecs/png/png_filter.h"
#include "images/codecs/png/png_header_facts.h"
#include "images/codecs/png/png_small_idats.h"
#include "images/codecs/png/png_texts.h"
#include "images/codecs/png/zlib_functions.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace late_zlib;

// Memory for the buffers and tables of the two strict decoders: that of plain files, and libpng, which needs
// more than zlib.
constexpr std::int64_t kPlainDecoderBytes = std::int64_t{448} << 10, kLibraryBytes = std::int64_t{208} << 10;

struct Pass {
  std::int64_t left, top, across, down;
};
// PNG specification, 3rd edition, clause 8.1.
constexpr std::array<Pass, 7> kAdam7Passes{
    {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};

class ZlibRows {
 public:
  ZlibRows() {
    if (inflateInit(&zlib_) != Z_OK) throw Error(ErrorKind::memory, "not enough memory");
  }
  ~ZlibRows() { inflateEnd(&zlib_); }
  ZlibRows(const ZlibRows&) = delete;
  ZlibRows& operator=(const ZlibRows&) = delete;

  // Fills `out` with one row, as Pillow does: a block that ends inside the row is followed by the next, and
  // an error that zlib meets in the same call as the end of the row counts. Returns whether the stream has
  // ended.
  [[nodiscard]] bool read(std::vector<std::uint8_t>& out, std::size_t size, PillowPngChunks& chunks) {
    for (std::size_t made = 0;;) {
      if (zlib_.avail_in == 0) {
        const Bytes block = chunks.next_pixels();
        zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(block.data()));
        zlib_.avail_in = static_cast<uInt>(block.size());
      }
      zlib_.next_out = out.data() + made;
      zlib_.avail_out = static_cast<uInt>(size - made);
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      if (result < 0) throw Error(ErrorKind::input, "PNG: corrupt compressed data");
      made = size - zlib_.avail_out;
      if (made == size) return result == Z_STREAM_END;
      zlib_.avail_in = 0;  // all of it is used, or ignored after the end of the stream
    }
  }

 private:
  z_stream zlib_{};
};

// Converts stored pixels to rows of the decoded image.
class PixelLayout {
 public:
  PixelLayout(const PillowPngHeader& header, int channels)
      : depth_(header.depth),
        color_type_(header.color_type),
        stored_channels_(color_type_ == 2   ? 3
                         : color_type_ == 4 ? 2
                         : color_type_ == 6 ? 4
                                            : 1),
        channels_(channels),
        transparency_(header.transparency) {
    for (std::size_t i = 0; i < header.palette.size() / 3; ++i) {
      for (std::size_t c = 0; c < 3; ++c)
        palette_[i][c] = std::to_integer<Sample8>(header.palette[3 * i + c]);
    }
  }

  [[nodiscard]] std::int64_t bits() const { return std::int64_t{depth_} * stored_channels_; }

  // Writes `count` pixels to every `step`th pixel from `out` on.
  void write_pixels(const std::uint8_t* row, std::int64_t count, std::int64_t step, Sample8* out) const {
    for (std::int64_t i = 0; i < count; ++i, out += step * channels_) {
      if (color_type_ == 3) {
        const unsigned index = stored(row, i);
        std::copy_n(palette_[index].data(), 3, out);
        if (channels_ == 4)
          out[3] = index < transparency_.size() ? std::to_integer<Sample8>(transparency_[index]) : 255;
        continue;
      }
      bool transparent = stored_channels_ < channels_;
      for (int c = 0; c < stored_channels_; ++c) {
        const unsigned value = stored(row, i * stored_channels_ + c);
        out[c] = as_8_bits(value);
        transparent = transparent && value == key(static_cast<std::size_t>(c));
      }
      if (stored_channels_ < channels_) out[stored_channels_] = transparent ? 0 : 255;
    }
  }

 private:
  [[nodiscard]] unsigned stored(const std::uint8_t* row, std::int64_t index) const {
    if (depth_ == 8) return row[index];
    if (depth_ == 16) return unsigned{row[2 * index]} << 8 | row[2 * index + 1];
    const std::int64_t bit = index * depth_;
    return row[bit / 8] >> (8 - depth_ - bit % 8) & ((1U << depth_) - 1);
  }
  [[nodiscard]] Sample8 as_8_bits(unsigned value) const {
    if (depth_ < 8) return static_cast<Sample8>(value * 255 / ((1U << depth_) - 1));
    if (depth_ == 8) return static_cast<Sample8>(value);
    if (color_type_ == 0) return static_cast<Sample8>(std::min(value, 255U));  // as convert("RGB")
    return static_cast<Sample8>(value >> 8);
  }
  [[nodiscard]] unsigned key(std::size_t c) const {
    return std::to_integer<unsigned>(transparency_[2 * c]) << 8 |
           std::to_integer<unsigned>(transparency_[2 * c + 1]);
  }

  int depth_, color_type_, stored_channels_, channels_;
  Bytes transparency_;
  std::array<std::array<Sample8, 3>, 256> palette_{};  // Pillow's missing colours are black
};

// The orientation is that of the last eXIf chunk, otherwise that of XMP.
Orientation orientation_of_pillow(Bytes file) {
  Bytes exif, xmp;
  for (auto chunk = png_chunk_at(file, kPngSignatureBytes); chunk && !is_png_type(file, *chunk, "IEND");
       chunk = png_chunk_at(file, chunk->end())) {
    if (is_png_type(file, *chunk, "eXIf")) exif = chunk->data(file);
    if (is_png_type(file, *chunk, "iTXt") && matches_at(chunk->data(file), 0, kPngXmpKeyword))
      xmp = chunk->data(file);
  }
  const bool compressed = matches_at(xmp, kPngXmpKeyword.size(), "\1");
  return pillow_exif_orientation(exif).value_or(compressed ? png_xmp_orientation(xmp)
                                                           : pillow_xmp_orientation(xmp));
}

class PillowPngReader final : public WholeImageReader {
 public:
  PillowPngReader(Bytes file, const DecodeOptions& options)
      : WholeImageReader(options.memory), file_(file), chunks_(file), layout_(png(), channels()) {
    header_.format = Format::png;
    header_.bits_per_sample = png().color_type == 3 ? 8 : png().depth;
    header_.progressive = png().interlaced;
    header_.shape = {png().width, png().height, channels()};
    check_header(header_.shape, options);
    read_png_header_facts(file, header_, warnings_);
    header_.orientation = orientation_of_pillow(file);
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + 3 * row_bytes(png().frame.width) +
           (png().interlaced || png().depth > 8 ? kLibraryBytes : kPlainDecoderBytes);
  }

 protected:
  void decode(HostView whole) override {
    if (decode_strictly(whole)) return;
    const HostPlane out = whole.as<Sample8>();
    const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(row_bytes(out.width)));
    layout_.write_pixels(zeros.data(), out.width, 1, out.row(0));
    for (std::int64_t y = 1; y < out.height; ++y)
      std::copy_n(out.row(0), out.width * out.channels, out.row(y));
    read_pixels(out);
  }

  void finish() override {
    const bool ends = chunks_.read_end();
    const std::int64_t wrong_crcs = count_wrong_idat_crcs(file_);
    if (wrong_crcs > 0)
      warnings_.push_back("damaged PNG: IDAT: CRC error (" + std::to_string(wrong_crcs) + " chunks)");
    if (stopped_early_) warnings_.push_back("damaged PNG: rows are missing; their samples become 0");
    if (!ends) warnings_.push_back("damaged PNG: the file is truncated after the pixels");
  }

 private:
  [[nodiscard]] const PillowPngHeader& png() const { return chunks_.header(); }
  [[nodiscard]] int channels() const {
    constexpr std::array<int, 7> kChannels{1, 0, 3, 3, 2, 0, 4};
    const int color_type = png().color_type;
    return kChannels[static_cast<std::size_t>(color_type)] + (png().transparency.empty() ? 0 : 1);
  }
  [[nodiscard]] std::int64_t row_bytes(std::int64_t pixels) const {
    return (pixels * layout_.bits() + 7) / 8;
  }

  // Intact files have the same pixels in a strict decode, which is faster. Returns false for other files.
  bool decode_strictly(HostView whole) {
    if (png().depth > 8 || png().of_animation) return false;
    try {
      const auto strict = open_png(file_, {.max_pixels = std::numeric_limits<std::int64_t>::max()});
      if (strict->header().shape != header_.shape) return false;
      strict->read_rows(whole);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      return false;
    }
  }

  // Stops where the compressed stream ends with a row: Pillow accepts that.
  void read_pixels(const HostPlane& out) {
    const PillowPngFrame& frame = png().frame;
    const auto size = static_cast<std::size_t>(row_bytes(frame.width));
    std::vector<std::uint8_t> filtered(size + 1), above, row(size);
    ZlibRows rows;
    const std::size_t passes = png().interlaced ? kAdam7Passes.size() : 1;
    for (std::size_t i = 0; i < passes; ++i) {
      const Pass pass = png().interlaced ? kAdam7Passes[i] : Pass{0, 0, 1, 1};
      const std::int64_t pixels = (frame.width - pass.left + pass.across - 1) / pass.across;
      if (pixels <= 0) continue;
      const auto bytes = static_cast<std::size_t>(row_bytes(pixels));
      above.assign(size, 0);
      for (std::int64_t y = pass.top; y < frame.height; y += pass.down) {
        if (stopped_early_) return;
        const bool ended = rows.read(filtered, bytes + 1, chunks_);
        if (!unfilter_png_row(filtered[0], filtered.data() + 1, above.data(), bytes, pixel_bytes(),
                              row.data()))
          throw Error(ErrorKind::input, "PNG: invalid filter type");
        layout_.write_pixels(row.data(), pixels, pass.across,
                             out.row(y + top()) + (pass.left + left()) * out.channels);
        std::swap(row, above);
        stopped_early_ = ended;
      }
    }
    stopped_early_ = false;
  }

  [[nodiscard]] std::size_t pixel_bytes() const { return static_cast<std::size_t>((layout_.bits() + 7) / 8); }
  // Pillow ignores the offset of an interlaced frame.
  [[nodiscard]] std::int64_t left() const { return png().interlaced ? 0 : png().frame.left; }
  [[nodiscard]] std::int64_t top() const { return png().interlaced ? 0 : png().frame.top; }

  Bytes file_;
  PillowPngChunks chunks_;
  PixelLayout layout_;
  bool stopped_early_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_pillow_png(Bytes file, const DecodeOptions& options) {
  return std::make_unique<PillowPngReader>(file, options);
}

}  // namespace imgpipe
