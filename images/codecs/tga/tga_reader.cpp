// Reads Truevision TGA 2.0 (1991), all types except Huffman coding, which it never defined. stb_image 2.27
// ignores the palette's first index and the right-to-left order.
#include <algorithm>
#include <memory>

#include "images/codecs/codec_parts.h"
#include "images/codecs/palette.h"
#include "images/codecs/sniff.h"
#include "images/codecs/tga/tga_codec.h"
#include "images/error.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "tga: " + reason);
}

enum class Alpha { none, straight, premultiplied };

struct TgaHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool top_down = false;
  bool right_to_left = false;
  bool packed = false;
  bool indexed = false;
  bool grey = false;
  int bits = 0;          // per stored pixel: 8, 15, 16, 24 or 32
  int palette_bits = 0;  // per palette entry: 15, 16, 24 or 32
  Alpha alpha = Alpha::none;
  std::size_t pixels_at = 0;

  [[nodiscard]] int pixel_bytes() const { return (bits + 7) / 8; }
  [[nodiscard]] int color_bits() const { return indexed ? palette_bits : bits; }
  [[nodiscard]] int channels() const { return (grey ? 1 : 3) + (alpha == Alpha::none ? 0 : 1); }
};

// Returns the type of the attribute bits: 1 "can be ignored", 3 alpha (default), 4 premultiplied alpha.
std::uint32_t attributes_type(Bytes bytes) {
  const Bytes extension = tga_extension(bytes);
  return extension.empty() ? 3 : little_endian(extension, extension.size() - 1, 1);
}

// In a file with a footer, other areas lie between the pixels and the footer, so nothing is reported.
void warn_of_trailing_bytes(Bytes file, std::size_t end, std::vector<std::string>& warnings) {
  if (!has_tga_footer(file)) warn_of_following_bytes(file, end, warnings);
}

// Returns the alpha that the descriptor declares: 8 bits of 32, or of 16 with grey. The single bit of 16-bit
// colours is not alpha, because programs disagree about which value is opaque.
Alpha alpha_of_header(const TgaHeader& header, std::uint32_t attribute_bits, Bytes bytes) {
  if (header.indexed) return header.palette_bits == 32 ? Alpha::straight : Alpha::none;
  const bool grey_pair = header.grey && header.bits == 16;
  if (header.bits != 32 && !grey_pair) return Alpha::none;
  if (attribute_bits != 8 && (attribute_bits != 0 || grey_pair)) {
    fail(std::to_string(attribute_bits) + " alpha bits in a pixel of " + std::to_string(header.bits) +
         " bits are not supported");
  }
  if (attribute_bits == 0) return Alpha::none;
  const std::uint32_t type = attributes_type(bytes);
  return type == 1 ? Alpha::none : type == 4 ? Alpha::premultiplied : Alpha::straight;
}

// Requires is_tga(), which checks type, depths and sides.
TgaHeader read_header(Bytes bytes) {
  const auto field = [&](std::size_t at, std::size_t count) { return little_endian(bytes, at, count); };
  TgaHeader header;
  const std::uint32_t type = field(2, 1);
  const std::uint32_t descriptor = field(17, 1);
  header.width = field(12, 2);
  header.height = field(14, 2);
  header.packed = type >= 8;
  header.indexed = type % 8 == 1;
  header.grey = type % 8 == 3;
  header.bits = static_cast<int>(field(16, 1));
  header.palette_bits = static_cast<int>(field(7, 1));
  header.right_to_left = (descriptor & 0x10) != 0;
  header.top_down = (descriptor & 0x20) != 0;
  if ((descriptor & 0xC0) != 0) fail("interleaved rows are not supported");
  header.alpha = alpha_of_header(header, descriptor & 0x0F, bytes);
  const std::size_t entry_bytes = (static_cast<std::size_t>(header.palette_bits) + 7) / 8;
  const std::size_t palette_bytes = field(1, 1) == 0 ? 0 : field(5, 2) * entry_bytes;
  header.pixels_at = kTgaHeaderBytes + field(0, 1) + palette_bytes;
  if (header.pixels_at > bytes.size()) fail("the file is truncated before its pixels");
  return header;
}

Sample8 scaled5(std::uint32_t value) {
  return static_cast<Sample8>(((value & 31) * kMaxSample + 15) / 31);
}

// Unpacks a stored colour (blue, green, red) of 15 or 16 bits (5 per component, the highest bit unused), 24
// or 32 bits.
void unpack_color(const unsigned char* in, int bits, Sample8* out) {
  if (bits <= 16) {
    const std::uint32_t pixel = std::uint32_t{in[1]} << 8 | in[0];
    for (int c = 0; c < 3; ++c) out[c] = scaled5(pixel >> (10 - 5 * c));
  } else {
    for (int c = 0; c < 3; ++c) out[c] = in[2 - c];
  }
}

Palette read_palette(Bytes bytes, const TgaHeader& header, bool lenient) {
  std::vector<Palette::Color> colors;
  if (header.indexed) {
    const std::size_t entry_bytes = (static_cast<std::size_t>(header.palette_bits) + 7) / 8;
    colors.resize(little_endian(bytes, 5, 2));
    const auto* in =
        reinterpret_cast<const unsigned char*>(bytes.data()) + header.pixels_at - colors.size() * entry_bytes;
    for (Palette::Color& color : colors) {
      unpack_color(in, header.palette_bits, color.data());
      color[3] = header.palette_bits == 32 ? in[3] : kMaxSample;
      in += entry_bytes;
    }
  }
  return {"tga", std::move(colors), little_endian(bytes, 3, 2), header.channels(), lenient};
}

// Divides each colour by the alpha: (v*255 + a/2) / a. A colour above its alpha is invalid and becomes 255.
void undo_premultiplication(Sample8* pixel, int channels) {
  const unsigned alpha = pixel[channels - 1];
  for (int c = 0; c < channels - 1; ++c) {
    const unsigned straight = alpha == 0 ? 0U : (pixel[c] * unsigned{kMaxSample} + alpha / 2) / alpha;
    pixel[c] = static_cast<Sample8>(std::min(straight, unsigned{kMaxSample}));
  }
}

// Converts stored pixels to samples, for raw and packed files.
class TgaPixels {
 public:
  TgaPixels(Bytes bytes, const TgaHeader& header, bool lenient)
      : tga_(header), palette_(read_palette(bytes, header, lenient)) {}

  void unpack(const unsigned char* in, std::int64_t count, Sample8* out) {
    for (std::int64_t i = 0; i < count; ++i, in += tga_.pixel_bytes(), out += tga_.channels()) {
      if (tga_.indexed) {
        palette_.put(tga_.bits == 8 ? in[0] : std::uint32_t{in[1]} << 8 | in[0], out);
        continue;
      }
      if (tga_.grey) {
        out[0] = in[0];
      } else {
        unpack_color(in, tga_.bits, out);
      }
      if (tga_.alpha != Alpha::none) out[tga_.channels() - 1] = in[tga_.pixel_bytes() - 1];
      if (tga_.alpha == Alpha::premultiplied) undo_premultiplication(out, tga_.channels());
    }
  }

  // Reverses a row that is stored from right to left.
  void orient(Sample8* row) const {
    if (!tga_.right_to_left) return;
    const int channels = tga_.channels();
    for (std::int64_t a = 0, b = tga_.width - 1; a < b; ++a, --b) {
      std::swap_ranges(row + a * channels, row + (a + 1) * channels, row + b * channels);
    }
  }

  void warn(std::vector<std::string>& warnings, std::int64_t missing) const {
    const auto add = [&](std::int64_t pixels, const char* what) {
      if (pixels > 0) warnings.push_back("damaged tga: " + std::to_string(pixels) + " pixels " + what);
    };
    add(missing, "are missing");
    add(palette_.unknown(), "have a colour that is not in the palette");
  }

 private:
  TgaHeader tga_;
  Palette palette_;
};

ImageHeader image_header(const TgaHeader& header, const DecodeOptions& options) {
  ImageHeader image;
  image.format = Format::tga;
  image.shape = {header.width, header.height, header.channels()};
  image.bits_per_sample = !header.grey && header.color_bits() <= 16 ? 5 : 8;
  check_header(image.shape, options);
  return image;
}

// Uncompressed rows; each is read directly from the file.
class TgaReader final : public Reader {
 public:
  TgaReader(Bytes bytes, const TgaHeader& header, const DecodeOptions& options)
      : tga_(header), pixels_(bytes, header, options.lenient()), stored_(bytes.subspan(header.pixels_at)) {
    header_ = image_header(header, options);
    const std::int64_t needed = tga_.width * tga_.height * tga_.pixel_bytes();
    if (!options.lenient() && needed > static_cast<std::int64_t>(stored_.size()))
      fail("the file is truncated");
    warn_of_trailing_bytes(bytes, header.pixels_at + static_cast<std::size_t>(needed), warnings_);
  }

 protected:
  void read_next_rows(HostView view) override {
    const HostPlane rows = view.as<Sample8>();
    for (std::int64_t y = 0; y < rows.height; ++y) read_row(next_row_++, rows.row(y));
  }

  void finish() override { pixels_.warn(warnings_, missing_); }

 private:
  void read_row(std::int64_t y, Sample8* out) {
    const std::int64_t before = (tga_.top_down ? y : tga_.height - 1 - y) * tga_.width;
    const std::int64_t have = static_cast<std::int64_t>(stored_.size()) / tga_.pixel_bytes() - before;
    const std::int64_t whole = std::clamp<std::int64_t>(have, 0, tga_.width);
    if (whole > 0) {
      const auto* in = reinterpret_cast<const unsigned char*>(stored_.data());
      pixels_.unpack(in + before * tga_.pixel_bytes(), whole, out);
    }
    fill_missing(out + whole * tga_.channels(), tga_.width - whole, tga_.channels());
    missing_ += tga_.width - whole;
    pixels_.orient(out);
  }

  TgaHeader tga_;
  TgaPixels pixels_;
  Bytes stored_;
  std::int64_t next_row_ = 0;
  std::int64_t missing_ = 0;
};

// Packets of up to 128 pixels, repeated or literal, which may span rows. Pixels beyond the image are dropped.
class TgaPackedReader final : public WholeImageReader {
 public:
  TgaPackedReader(Bytes bytes, const TgaHeader& header, const DecodeOptions& options)
      : WholeImageReader(options.memory),
        tga_(header),
        pixels_(bytes, header, options.lenient()),
        lenient_(options.lenient()),
        file_(bytes),
        stored_(bytes.subspan(header.pixels_at)) {
    header_ = image_header(header, options);
    // A packet of 1 + pixel_bytes bytes gives up to 128 pixels.
    const std::int64_t best_ratio = 128 * tga_.pixel_bytes() / (1 + tga_.pixel_bytes()) + 1;
    if (lenient_) return;
    check_plausible(tga_.width * tga_.height * tga_.pixel_bytes(), stored_.size(), best_ratio);
  }

 protected:
  void decode(HostView view) override {
    const HostPlane whole = view.as<Sample8>();
    std::int64_t missing = 0;
    for (std::int64_t y = 0; y < whole.height; ++y) {
      Sample8* row = whole.row(tga_.top_down ? y : whole.height - 1 - y);
      const std::int64_t given = unpack_row(row);
      if (given < whole.width && !lenient_) fail("the file is truncated");
      fill_missing(row + given * whole.channels, whole.width - given, whole.channels);
      missing += whole.width - given;
      pixels_.orient(row);
    }
    pixels_.warn(warnings_, missing);
    warn_of_trailing_bytes(file_, end(), warnings_);
  }

 private:
  // Returns the offset just past the last packet.
  [[nodiscard]] std::size_t end() const {
    const std::int64_t left = repeats_ ? std::min<std::int64_t>(left_in_packet_, 1) : left_in_packet_;
    return tga_.pixels_at + at_ + static_cast<std::size_t>(left * tga_.pixel_bytes());
  }

  // Returns the number of pixels available for this row.
  std::int64_t unpack_row(Sample8* row) {
    const std::int64_t pixel_bytes = tga_.pixel_bytes();
    std::int64_t x = 0;
    while (x < tga_.width) {
      if (left_in_packet_ == 0) {
        if (at_ >= stored_.size()) return x;
        const auto head = std::to_integer<unsigned>(stored_[at_++]);
        repeats_ = head >= 128;
        left_in_packet_ = static_cast<std::int64_t>(head % 128) + 1;
      }
      const std::int64_t have = static_cast<std::int64_t>(stored_.size() - at_) / pixel_bytes;
      const std::int64_t wanted = std::min(left_in_packet_, tga_.width - x);
      const std::int64_t count = repeats_ ? (have > 0 ? wanted : 0) : std::min(wanted, have);
      if (count == 0) return x;
      paint(row + x * tga_.channels(), count);
      left_in_packet_ -= count;
      if (!repeats_ || left_in_packet_ == 0) {
        at_ += static_cast<std::size_t>(pixel_bytes * (repeats_ ? 1 : count));
      }
      x += count;
    }
    return x;
  }

  void paint(Sample8* out, std::int64_t count) {
    const auto* in = reinterpret_cast<const unsigned char*>(stored_.data()) + at_;
    if (!repeats_) return pixels_.unpack(in, count, out);
    for (std::int64_t i = 0; i < count; ++i) pixels_.unpack(in, 1, out + i * tga_.channels());
  }

  TgaHeader tga_;
  TgaPixels pixels_;
  bool lenient_;
  Bytes file_, stored_;
  std::size_t at_ = 0;
  std::int64_t left_in_packet_ = 0;
  bool repeats_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_tga(Bytes bytes, const DecodeOptions& options) {
  const TgaHeader header = read_header(bytes);
  if (header.packed) return std::make_unique<TgaPackedReader>(bytes, header, options);
  return std::make_unique<TgaReader>(bytes, header, options);
}

}  // namespace imgpipe
