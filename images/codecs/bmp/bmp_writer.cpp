// Writes the same BMP files as stb_image_write, except for the resolution (Microsoft, BITMAPINFOHEADER and
// BITMAPV4HEADER): 24 bits per pixel, or 32 with alpha and masks. The library holds the whole image and the
// file; this writer holds only the file, as it must: BMP stores the bottom row first.
#include <algorithm>
#include <cstring>
#include <limits>

#include "images/codecs/bmp/bmp_codec.h"
#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/metadata.h"

namespace imgpipe {
namespace {

class BmpWriter final : public Writer {
 public:
  BmpWriter(Shape shape, const EncodeOptions& options)
      : shape_(shape),
        mark_(options.mark),
        metadata_(options.metadata),
        header_bytes_(kBmpFileHeaderBytes + (shape.has_alpha() ? 108 : 40)),
        row_bytes_(shape.has_alpha() ? 4 * shape.width : (3 * shape.width + 3) / 4 * 4) {}

  void write_rows(ConstHostView view) override {
    const ConstHostPlane rows = as_8_bit(view);
    if (file_.empty()) begin();
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      const std::int64_t at = header_bytes_ + (shape_.height - 1 - next_row_) * row_bytes_;
      write_row(rows.row(y), reinterpret_cast<unsigned char*>(file_.data()) + at);
    }
  }

  [[nodiscard]] std::int64_t working_bytes() const override { return file_bytes(); }

  EncodedFile finish() override {
    EncodedFile encoded;
    encoded.parts.push_back(std::move(file_));
    return encoded;
  }

 private:
  [[nodiscard]] std::int64_t file_bytes() const { return header_bytes_ + row_bytes_ * shape_.height; }

  void begin() {
    std::vector<std::byte> head{std::byte{'B'}, std::byte{'M'}};
    const auto put = [&head](std::int64_t value, int bytes) {
      for (int i = 0; i < bytes; ++i) head.push_back(static_cast<std::byte>(value >> (8 * i)));
    };
    put(file_bytes(), 4), put(0, 4), put(header_bytes_, 4);
    put(header_bytes_ - kBmpFileHeaderBytes, 4), put(shape_.width, 4), put(shape_.height, 4);
    put(1, 2), put(shape_.has_alpha() ? 32 : 24, 2), put(shape_.has_alpha() ? 3 : 0, 4);
    head.resize(kBmpFileHeaderBytes + 40);
    if (shape_.has_alpha()) {
      for (const std::int64_t mask : {0xFF0000LL, 0xFF00LL, 0xFFLL, 0xFF000000LL}) put(mask, 4);
    }
    file_.resize(static_cast<std::size_t>(file_bytes()));
    std::ranges::copy(head, file_.begin());
    add_bmp_mark(file_, mark_);
    if (metadata_) add_bmp_metadata(file_, *metadata_);
  }

  void write_row(const Sample8* in, unsigned char* out) const {
    if (shape_.channels == 1) {
      for (std::int64_t x = 0; x < shape_.width; ++x, out += 3) std::memset(out, in[x], 3);
      return;
    }
    const int channels = shape_.channels;
    for (std::int64_t x = 0; x < shape_.width; ++x, in += channels, out += channels) {
      for (int c = 0; c < 3; ++c) out[c] = in[2 - c];
      if (channels == 4) out[3] = in[3];
    }
  }

  Shape shape_;
  Mark mark_;
  std::shared_ptr<const Metadata> metadata_;
  std::int64_t header_bytes_, row_bytes_;
  std::vector<std::byte> file_;
  std::int64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_bmp_writer(Shape shape, const EncodeOptions& options) {
  check_storable_size(Format::bmp, shape, std::numeric_limits<int>::max());
  return std::make_unique<BmpWriter>(shape, options);
}

}  // namespace imgpipe
