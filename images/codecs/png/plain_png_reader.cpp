// A fast reader of plain PNG: not interlaced; grey or RGB, with or without alpha; 8 bits per sample, or 16
// that are not reduced to 8. libpng has accepted everything before the pixels; from the first IDAT chunk on,
// this reader decompresses with ISA-L. It checks every chunk's CRC, the Adler-32, and the exact number of
// bytes. libpng is less strict after the last pixel: it ignores IDAT chunks that begin there. If anything is
// irregular there, libpng decides, so that both readers accept the same files.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "images/codecs/big_endian_rows.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/png/plain_png.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_filter.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Bytes decompressed at a time; few enough to remain in the L2 cache until their rows are unfiltered.
constexpr std::size_t kInflatedBytes = std::size_t{1} << 18;

class PlainPngReader final : public Reader {
 public:
  PlainPngReader(Bytes file, const PlainPng& plain, std::unique_ptr<Reader> library)
      : file_(file),
        library_(std::move(library)),
        next_chunk_(plain.first_idat),
        end_of_idats_(plain.end_of_idats),
        row_bytes_(static_cast<std::size_t>(library_->header().shape.row_bytes())) {
    header_ = library_->header();
    warnings_ = library_->warnings();  // about bytes after the image
    library_bytes_ = library_->working_bytes(false);
    left_ = (row_bytes_ + 1) * static_cast<std::uint64_t>(header_.shape.height);
  }

  // ISA-L's tables, and the larger of this reader's buffers and those of the final check with libpng.
  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    constexpr std::int64_t kTableBytes = std::int64_t{96} << 10;  // ISA-L's
    const auto row = static_cast<std::int64_t>(row_bytes_);
    const auto own = static_cast<std::int64_t>(inflated_bytes()) + row;
    return kTableBytes + std::max(own, row + library_bytes_);
  }

 protected:
  void read_next_rows(HostView rows) override {
    first_above_.resize(row_bytes_);
    inflated_.resize(inflated_bytes());
    const auto pixel_bytes = static_cast<std::size_t>(rows.channels * bytes_per_sample(rows.sample));
    const auto row = [&](std::int64_t y) { return reinterpret_cast<std::uint8_t*>(rows.row(y)); };
    for (std::int64_t y = 0; y < rows.height; ++y) {
      const std::uint8_t* filtered = next_filtered_row();
      // The row above may be among the rows of the previous call, which may be gone.
      const std::uint8_t* above = y == 0 ? first_above_.data() : row(y - 1);
      if (!unfilter_png_row(filtered[0], filtered + 1, above, row_bytes_, pixel_bytes, row(y)))
        fail("invalid filter type");
      // A row keeps the file's byte order while the row below needs it.
      if (y > 0) from_big_endian(rows.rows(y - 1, 1));
    }
    if (rows.height == 0) return;
    std::memcpy(first_above_.data(), rows.row(rows.height - 1), row_bytes_);
    from_big_endian(rows.rows(rows.height - 1, 1));
  }

  void finish() override {
    first_above_ = std::vector<std::uint8_t>();
    inflated_ = std::vector<std::byte>();
    try {
      check_end();
    } catch (const Error&) {
      check_with_library();
    }
    library_.reset();
  }

 private:
  // At most the image's size: clearing a larger buffer would take longer than decoding a tiny image.
  [[nodiscard]] std::size_t inflated_bytes() const {
    const std::uint64_t all = (row_bytes_ + 1) * static_cast<std::uint64_t>(header_.shape.height);
    return std::max<std::size_t>(std::min<std::uint64_t>(kInflatedBytes, all), row_bytes_ + 1);
  }

  void check_end() {
    std::byte more{};
    while (!inflater_.finished()) {
      if (inflate({&more, 1}) != 0) fail("more pixel data than the image size allows");
    }
    while (next_chunk_ < end_of_idats_) take_chunk();
    if (!data_.empty()) fail("data after the last pixel");
    std::optional<PngChunk> chunk = png_chunk_at(file_, next_chunk_);
    for (; chunk; chunk = png_chunk_at(file_, chunk->end())) {
      check_crc(*chunk);
      if (is_png_type(file_, *chunk, "IEND")) return;
    }
    fail("the file is truncated");
  }

  // Throws libpng's error if libpng rejects the file.
  void check_with_library() {
    Image row({header_.shape.width, 1, header_.shape.channels, header_.shape.sample});
    for (std::int64_t y = 0; y < header_.shape.height; ++y) library_->read_rows(row.untyped_view());
  }

  [[noreturn]] static void fail(const char* reason) {
    throw Error(ErrorKind::input, std::string("PNG: ") + reason);
  }

  void check_crc(const PngChunk& chunk) const {
    if (!has_valid_crc(file_, chunk)) fail("CRC error");
  }

  // Moves on to the next IDAT chunk; fails unless the current one is used up.
  void take_chunk() {
    const PngChunk chunk = *png_chunk_at(file_, next_chunk_);  // plain_png() has checked that it exists
    check_crc(chunk);
    if (!data_.empty()) fail("data after the last pixel");
    data_ = chunk.data(file_);
    next_chunk_ = chunk.end();
  }

  std::size_t inflate(std::span<std::byte> out) {
    std::size_t made = 0;
    while (made < out.size() && !inflater_.finished()) {
      if (data_.empty() && next_chunk_ < end_of_idats_) take_chunk();
      const std::size_t left = data_.size();
      std::size_t step = 0;
      try {
        step = inflater_.inflate(data_, out.subspan(made));
      } catch (const Error& error) {
        fail(error.what());
      }
      made += step;
      if (step == 0 && data_.size() == left && data_.empty() && next_chunk_ == end_of_idats_ &&
          !inflater_.finished())
        fail("not enough compressed data");
    }
    return made;
  }

  // Returns the filter type byte and the bytes of the next row.
  const std::uint8_t* next_filtered_row() {
    const std::size_t wanted = row_bytes_ + 1;
    if (filled_ - used_ < wanted) {
      std::memmove(inflated_.data(), inflated_.data() + used_, filled_ - used_);
      filled_ -= used_;
      used_ = 0;
      // At most the image's remaining bytes; finish() checks the data after them.
      const std::size_t capacity = std::min<std::uint64_t>(inflated_.size() - filled_, left_ - filled_);
      filled_ += inflate(std::span(inflated_).subspan(filled_, capacity));
      if (filled_ < wanted) fail("not enough compressed data");
    }
    const std::byte* row = inflated_.data() + used_;
    used_ += wanted;
    left_ -= wanted;
    return reinterpret_cast<const std::uint8_t*>(row);
  }

  Bytes file_;
  std::unique_ptr<Reader> library_;  // libpng's, before its first row
  std::int64_t library_bytes_ = 0;   // working_bytes() of library_
  std::size_t next_chunk_;
  std::size_t end_of_idats_;
  Bytes data_;  // of the current chunk, not yet decompressed
  std::size_t row_bytes_;
  std::vector<std::uint8_t> first_above_;  // the last row returned
  ZlibInflater inflater_;
  std::vector<std::byte> inflated_;
  std::size_t used_ = 0, filled_ = 0;  // offsets in inflated_
  std::uint64_t left_ = 0;             // bytes of rows not yet returned
};

}  // namespace

std::optional<PlainPng> plain_png(Bytes file, std::size_t first_idat,
                                  std::span<const unsigned char> harmless) {
  PlainPng plain{first_idat, first_idat};
  std::optional<PngChunk> chunk = png_chunk_at(file, first_idat);
  // The stream's window must be as large as ISA-L's: a smaller one limits distances, which only zlib checks.
  if (!chunk || chunk->length < 2 || file[first_idat + 8] != std::byte{0x78}) return std::nullopt;
  while (chunk && is_png_type(file, *chunk, "IDAT")) {
    plain.end_of_idats = chunk->end();
    chunk = png_chunk_at(file, chunk->end());
  }
  // After the pixels, only chunks that libpng ignores may follow.
  for (; chunk; chunk = png_chunk_at(file, chunk->end())) {
    if (is_png_type(file, *chunk, "IEND")) return chunk->length == 0 ? std::optional(plain) : std::nullopt;
    bool known = false;
    for (std::size_t i = 0; i + 4 <= harmless.size(); i += 5)
      known = known || is_png_type(file, *chunk, &harmless[i]);
    if (!known) return std::nullopt;
  }
  return std::nullopt;
}

std::unique_ptr<Reader> open_plain_png(Bytes file, const PlainPng& plain, std::unique_ptr<Reader> library) {
  return std::make_unique<PlainPngReader>(file, plain, std::move(library));
}

}  // namespace imgpipe
