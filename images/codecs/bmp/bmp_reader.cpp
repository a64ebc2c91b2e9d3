// Reads BMP files (Windows and OS/2, uncompressed and RLE). stb_image 2.27 lacks RLE, decodes wrong colours
// in OS/2 files and 56-byte headers, and mistakes unused bytes for alpha.
#include <algorithm>
#include <bit>
#include <memory>

#include "images/codecs/bmp/bmp_codec.h"
#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/codec_parts.h"
#include "images/error.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const char* reason) {
  throw Error(ErrorKind::input, std::string("bmp: ") + reason);
}

// Extracts a channel of 16- or 32-bit pixels. Values v of a maximum m become (v*255 + m/2) / m.
class MaskedChannel {
 public:
  explicit MaskedChannel(std::uint32_t mask)
      : mask_(mask), shift_(mask == 0 ? 0 : std::countr_zero(mask)), max_(mask >> shift_) {
    for (std::uint64_t v = 0; v <= std::min<std::uint64_t>(max_, kMaxSample); ++v) {
      scaled_[v] = max_ == 0 ? Sample8{0} : scaled(v);
    }
  }

  [[nodiscard]] Sample8 operator()(std::uint32_t pixel) const {
    const std::uint32_t value = (pixel & mask_) >> shift_;
    return max_ <= kMaxSample ? scaled_[value] : scaled(value);
  }

 private:
  [[nodiscard]] Sample8 scaled(std::uint64_t value) const {
    return static_cast<Sample8>((value * kMaxSample + max_ / 2) / max_);
  }

  std::uint32_t mask_;
  int shift_;
  std::uint32_t max_;
  std::array<Sample8, kMaxSample + 1> scaled_{};
};

Palette make_palette(BmpHeader& header, bool lenient) {
  return {"bmp", std::move(header.palette), 0, 3, lenient};
}

// Returns the bits of the widest channel; with a palette, those of its colours.
int bits_per_sample(const BmpHeader& header) {
  int widest = 0;
  for (const std::uint32_t mask : header.masks) widest = std::max(widest, std::popcount(mask));
  return widest > 0 ? widest : 8;
}

ImageHeader image_header(const BmpHeader& header, const DecodeOptions& options) {
  ImageHeader image;
  image.format = Format::bmp;
  image.shape = {header.width, header.height, header.channels()};
  image.bits_per_sample = bits_per_sample(header);
  check_header(image.shape, options);
  return image;
}

void warn_of(std::vector<std::string>& warnings, std::int64_t pixels, const char* what) {
  if (pixels > 0) warnings.push_back("damaged bmp: " + std::to_string(pixels) + " pixels " + what);
}

// Reads uncompressed rows directly from the file.
class BmpReader final : public Reader {
 public:
  BmpReader(Bytes bytes, BmpHeader header, const DecodeOptions& options)
      : bytes_(bytes),
        bmp_(std::move(header)),
        palette_(make_palette(bmp_, options.lenient())),
        channels_{MaskedChannel(bmp_.masks[0]), MaskedChannel(bmp_.masks[1]), MaskedChannel(bmp_.masks[2]),
                  MaskedChannel(bmp_.masks[3])} {
    header_ = image_header(bmp_, options);
    warnings_ = bmp_.warnings;
    const std::int64_t end = static_cast<std::int64_t>(bmp_.pixels_at) + bmp_.row_bytes() * bmp_.height;
    truncated_ = end > static_cast<std::int64_t>(bytes.size());
    if (truncated_ && !options.lenient()) fail("the file is truncated");
    warn_of_following_bytes(bytes, bmp_end(bytes, bmp_, static_cast<std::size_t>(end)), warnings_);
  }

 protected:
  void read_next_rows(HostView view) override {
    const HostPlane rows = view.as<Sample8>();
    for (std::int64_t y = 0; y < rows.height; ++y) read_row(next_row_++, rows.row(y));
  }

  void finish() override {
    warn_of(warnings_, missing_, "are missing");
    if (truncated_ && missing_ == 0)
      warnings_.emplace_back("damaged bmp: the end of the last row is missing");
    warn_of(warnings_, palette_.unknown(), "have a colour that is not in the palette");
  }

 private:
  void read_row(std::int64_t y, Sample8* out) {
    const std::int64_t stored = bmp_.top_down ? y : bmp_.height - 1 - y;
    const std::int64_t at = static_cast<std::int64_t>(bmp_.pixels_at) + stored * bmp_.row_bytes();
    const std::int64_t left = std::max<std::int64_t>(static_cast<std::int64_t>(bytes_.size()) - at, 0);
    const std::int64_t whole = std::min(bmp_.width, left * 8 / bmp_.bits);
    if (whole > 0) unpack(reinterpret_cast<const unsigned char*>(bytes_.data()) + at, whole, out);
    fill_missing(out + whole * bmp_.channels(), bmp_.width - whole, bmp_.channels());
    missing_ += bmp_.width - whole;
  }

  void unpack(const unsigned char* in, std::int64_t count, Sample8* out) {
    if (bmp_.indexed()) return unpack_indices(in, count, out);
    if (bmp_.bits == 24) {
      for (std::int64_t x = 0; x < count; ++x, in += 3, out += 3) {
        for (int c = 0; c < 3; ++c) out[c] = in[2 - c];
      }
      return;
    }
    const int bytes = bmp_.bits / 8;
    for (std::int64_t x = 0; x < count; ++x, in += bytes, out += bmp_.channels()) {
      std::uint32_t pixel = std::uint32_t{in[1]} << 8 | in[0];
      if (bytes == 4) pixel |= std::uint32_t{in[3]} << 24 | std::uint32_t{in[2]} << 16;
      for (std::size_t c = 0; c < static_cast<std::size_t>(bmp_.channels()); ++c)
        out[c] = channels_[c](pixel);
    }
  }

  // The first pixel is in the highest bits of its byte.
  void unpack_indices(const unsigned char* in, std::int64_t count, Sample8* out) {
    const std::uint32_t mask = (1U << bmp_.bits) - 1;
    for (std::int64_t x = 0; x < count; ++x, out += 3) {
      const std::int64_t bit = x * bmp_.bits;
      palette_.put(std::uint32_t{in[bit / 8]} >> (8 - bmp_.bits - bit % 8) & mask, out);
    }
  }

  Bytes bytes_;
  BmpHeader bmp_;
  Palette palette_;
  std::array<MaskedChannel, 4> channels_;
  bool truncated_ = false;
  std::int64_t next_row_ = 0;
  std::int64_t missing_ = 0;
};

// RLE8 and RLE4 (Microsoft, "Bitmap Compression"): pairs of bytes, either a count and a value to repeat, or
// zero and a command. Skipped pixels get colour 0, as in most programs. The work is bounded by file and
// image: a pair paints at most 255 pixels.
class BmpRleReader final : public WholeImageReader {
 public:
  BmpRleReader(Bytes bytes, BmpHeader header, const DecodeOptions& options)
      : WholeImageReader(options.memory),
        bmp_(std::move(header)),
        palette_(make_palette(bmp_, options.lenient())),
        lenient_(options.lenient()),
        file_(bytes) {
    header_ = image_header(bmp_, options);
    warnings_ = bmp_.warnings;
    codes_ = bytes.subspan(std::min(bmp_.pixels_at, bytes.size()));
  }

 protected:
  void decode(HostView view) override {
    const HostPlane whole = view.as<Sample8>();
    palette_.put(0, whole.row(0));
    for (std::int64_t y = 0; y < whole.height; ++y) {
      for (std::int64_t x = 0; x < whole.width; ++x) std::copy_n(whole.row(0), 3, whole.row(y) + 3 * x);
    }
    if (run_codes(whole)) {
      warn_of_following_bytes(file_, bmp_end(file_, bmp_, bmp_.pixels_at + at_), warnings_);
      return warn();
    }
    if (!lenient_) fail("the file is truncated");
    for (; y_ < whole.height; ++y_, x_ = 0) {
      const std::int64_t left = std::max<std::int64_t>(whole.width - x_, 0);
      fill_missing(stored_row(whole) + 3 * (whole.width - left), left, 3);
      missing_ += left;
    }
    warnings_.push_back("damaged bmp: the file is truncated");
    warn();
  }

 private:
  void warn() {
    warn_of(warnings_, missing_, "are missing");
    warn_of(warnings_, outside_, "lie outside the image");
    warn_of(warnings_, palette_.unknown(), "have a colour that is not in the palette");
  }

  // Paints until the end marker; returns false if the file ends first.
  bool run_codes(HostPlane whole) {
    while (at_ + 2 <= codes_.size()) {
      const std::uint32_t count = byte(at_);
      const std::uint32_t value = byte(at_ + 1);
      at_ += 2;
      if (count > 0) {
        for (std::uint32_t i = 0; i < count; ++i) put(whole, index(value, i));
      } else if (value == 0) {  // end of row
        x_ = 0;
        ++y_;
      } else if (value == 1) {  // end of image
        return true;
      } else if (value == 2) {  // move right and to later rows
        if (at_ + 2 > codes_.size()) return false;
        x_ += byte(at_);
        y_ += byte(at_ + 1);
        at_ += 2;
      } else if (!paint_literals(whole, value)) {
        return false;
      }
    }
    return false;
  }

  // Paints `count` literal pixels, stored as a whole number of byte pairs.
  bool paint_literals(HostPlane whole, std::uint32_t count) {
    const std::uint32_t per_byte = bmp_.packing == BmpPacking::rle4 ? 2 : 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at = at_ + i / per_byte;
      if (at >= codes_.size()) return false;
      put(whole, index(byte(at), i));
    }
    const std::size_t bytes = (count + per_byte - 1) / per_byte;
    at_ += bytes + bytes % 2;
    return true;
  }

  [[nodiscard]] std::uint32_t byte(std::size_t at) const {
    return std::to_integer<std::uint32_t>(codes_[at]);
  }

  // Returns the i-th pixel of a run: RLE4 alternates between the two indices of the byte.
  [[nodiscard]] std::uint32_t index(std::uint32_t value, std::uint32_t i) const {
    if (bmp_.packing == BmpPacking::rle8) return value;
    return i % 2 == 0 ? value >> 4 : value & 15;
  }

  [[nodiscard]] std::int64_t padded_width() const { return bmp_.row_bytes() * 8 / bmp_.bits; }

  [[nodiscard]] Sample8* stored_row(HostPlane whole) const {
    return whole.row(bmp_.top_down ? y_ : bmp_.height - 1 - y_);
  }

  void put(HostPlane whole, std::uint32_t index) {
    // ImageMagick also encodes the padding pixels that uncompressed rows would have.
    if (x_ >= whole.width && x_ < padded_width() && y_ < whole.height) {
      ++x_;
      return;
    }
    if (x_ >= whole.width || y_ >= whole.height) {
      if (!lenient_) fail("RLE codes write outside the image");
      ++outside_;
      return;
    }
    palette_.put(index, stored_row(whole) + 3 * x_);
    ++x_;
  }

  BmpHeader bmp_;
  Palette palette_;
  bool lenient_;
  Bytes file_, codes_;
  std::size_t at_ = 0;
  std::int64_t x_ = 0;
  std::int64_t y_ = 0;  // in file order
  std::int64_t missing_ = 0;
  std::int64_t outside_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_bmp(Bytes bytes, const DecodeOptions& options) {
  BmpHeader header = read_bmp_header(bytes, options.lenient());
  if (header.packing == BmpPacking::none) {
    return std::make_unique<BmpReader>(bytes, std::move(header), options);
  }
  return std::make_unique<BmpRleReader>(bytes, std::move(header), options);
}

}  // namespace imgpipe
