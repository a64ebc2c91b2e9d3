// Writes run-length encoded TGA (Truevision TGA 2.0), byte-identical to the output of stb_image_write. That
// library holds the whole image and the file; this writer holds only the packed rows, because the file stores
// the bottom row first.
#include <algorithm>
#include <cstring>

#include "images/codecs/codec_parts.h"
#include "images/codecs/mark.h"
#include "images/codecs/tga/tga_codec.h"

namespace imgpipe {
namespace {

class TgaWriter final : public Writer {
 public:
  TgaWriter(Shape shape, const EncodeOptions& options)
      : shape_(shape), pixel_bytes_(static_cast<std::size_t>(shape.channels)), mark_(options.mark) {}

  void write_rows(ConstHostView view) override {
    const ConstHostPlane rows = as_8_bit(view);
    const std::int64_t at_once = rows_at_once();
    for (std::int64_t y = 0; y < rows.height; y += at_once) {
      const ConstHostPlane band = rows.rows(y, std::min(at_once, rows.height - y));
      packed_.clear();
      for (std::int64_t row = band.height; row-- > 0;) pack(band.row(row));
      bands_.push_back(packed_);  // copies, so that no capacity is wasted
    }
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return kTgaHeaderBytes + static_cast<std::int64_t>(mark_text(mark_).size()) +
           max_row_bytes() * (shape_.height + rows_at_once()) +
           (shape_.height / rows_at_once() + 1) * 2 * std::int64_t{sizeof(std::vector<std::byte>)};
  }

  EncodedFile finish() override {
    packed_ = std::vector<std::byte>();
    std::vector<std::byte> head = header();
    add_tga_mark(head, mark_);
    bands_.push_back(std::move(head));
    std::ranges::reverse(bands_);
    EncodedFile encoded;
    encoded.parts = std::move(bands_);
    return encoded;
  }

 private:
  // The worst case: every packet holds one pixel.
  [[nodiscard]] std::int64_t max_row_bytes() const { return shape_.width * (1 + shape_.channels); }
  [[nodiscard]] std::int64_t rows_at_once() const {
    constexpr std::int64_t kBandBytes = std::int64_t{1} << 18;
    return std::clamp<std::int64_t>(kBandBytes / max_row_bytes(), 1, shape_.height);
  }

  [[nodiscard]] std::vector<std::byte> header() const {
    std::vector<std::byte> head(kTgaHeaderBytes);
    const auto put = [&head](std::size_t at, std::int64_t value) {
      head[at] = static_cast<std::byte>(value);
      if (at < 16) head[at + 1] = static_cast<std::byte>(value >> 8);
    };
    head[2] = std::byte{shape_.color_channels() == 1 ? std::uint8_t{11} : std::uint8_t{10}};
    put(12, shape_.width), put(14, shape_.height);
    put(16, 8 * std::int64_t{shape_.channels}), put(17, shape_.has_alpha() ? 8 : 0);
    return head;
  }

  void pack(const Sample8* row) {
    for (std::int64_t x = 0; x < shape_.width;) {
      const std::int64_t equal = equal_pixels(row, x);
      const std::int64_t count = equal > 1 ? equal : different_pixels(row, x);
      packed_.push_back(static_cast<std::byte>(equal > 1 ? count + 127 : count - 1));
      for (std::int64_t i = 0; i < (equal > 1 ? 1 : count); ++i) put_pixel(pixel(row, x + i));
      x += count;
    }
  }

  [[nodiscard]] const Sample8* pixel(const Sample8* row, std::int64_t x) const {
    return row + x * static_cast<std::int64_t>(pixel_bytes_);
  }
  [[nodiscard]] bool same(const Sample8* row, std::int64_t a, std::int64_t b) const {
    return std::memcmp(pixel(row, a), pixel(row, b), pixel_bytes_) == 0;
  }

  // Returns the number of equal pixels from `x` on, at most 128.
  [[nodiscard]] std::int64_t equal_pixels(const Sample8* row, std::int64_t x) const {
    const std::int64_t end = std::min(shape_.width, x + kMaxInPacket);
    std::int64_t next = x + 1;
    while (next < end && same(row, x, next)) ++next;
    return next - x;
  }

  // Returns the number of pixels of a literal packet at `x`. Like stb_image_write, ends it before a pixel
  // that equals the one two before it.
  [[nodiscard]] std::int64_t different_pixels(const Sample8* row, std::int64_t x) const {
    if (x + 1 == shape_.width) return 1;
    const std::int64_t end = std::min(shape_.width, x + kMaxInPacket);
    std::int64_t next = x + 2;
    while (next < end && !same(row, next - 2, next)) ++next;
    return next < end ? next - 1 - x : next - x;
  }

  void put_pixel(const Sample8* in) {
    const int colors = shape_.color_channels();
    for (int c = 0; c < colors; ++c) packed_.push_back(static_cast<std::byte>(in[colors - 1 - c]));
    if (shape_.has_alpha()) packed_.push_back(static_cast<std::byte>(in[colors]));
  }

  static constexpr std::int64_t kMaxInPacket = 128;

  Shape shape_;
  std::size_t pixel_bytes_;
  Mark mark_;
  std::vector<std::byte> packed_;              // rows of the current band, the last one first
  std::vector<std::vector<std::byte>> bands_;  // previous bands, the first one first
};

}  // namespace

std::unique_ptr<Writer> make_tga_writer(Shape shape, const EncodeOptions& options) {
  check_storable_size(Format::tga, shape, 65535);
  return std::make_unique<TgaWriter>(shape, options);
}

}  // namespace imgpipe
