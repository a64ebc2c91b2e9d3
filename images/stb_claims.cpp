#include "images/stb_claims.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "images/codec_parts.h"
#include "images/error.h"
#include "images/image.h"
#include "images/sniff.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

// Windows bitmap: BITMAPCOREHEADER (12 bytes), BITMAPINFOHEADER (40) and its successors (56, 108, 124).
struct BmpFields {
  bool core;
  std::uint32_t offset, header_bytes, bits, compression, colors;
  std::int64_t width, height, row_bytes, palette_entries;
  bool top_down;
};

BmpFields read_bmp_fields(Bytes bytes) {
  require(bytes.size() >= 26, "bmp: the header is truncated");
  BmpFields f{};
  f.offset = little_endian(bytes, 10, 4);
  f.header_bytes = little_endian(bytes, 14, 4);
  f.core = f.header_bytes == 12;
  require(f.core || (f.header_bytes >= 40 && f.header_bytes <= 124), "bmp: unknown header version");
  require(bytes.size() >= 14 + std::size_t{f.header_bytes}, "bmp: the header is truncated");
  const auto signed_field = [&](std::size_t at) {
    return std::int64_t{static_cast<std::int32_t>(little_endian(bytes, at, 4))};
  };
  f.width = f.core ? little_endian(bytes, 18, 2) : signed_field(18);
  f.height = f.core ? little_endian(bytes, 20, 2) : signed_field(22);
  f.bits = little_endian(bytes, f.core ? 24 : 28, 2);
  f.compression = f.core ? 0 : little_endian(bytes, 30, 4);
  f.colors = f.core ? 0 : little_endian(bytes, 46, 4);
  f.top_down = f.height < 0;
  f.height = std::abs(f.height);
  require(f.width > 0 && f.height > 0, "bmp: an image of no pixels");
  require(f.bits == 1 || f.bits == 4 || f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32,
          "bmp: this number of bits is not supported");
  require(f.width <= std::numeric_limits<std::int32_t>::max() / 32, "bmp: too large");
  f.row_bytes = (f.width * f.bits + 31) / 32 * 4;
  return f;
}

// A palette index beyond the palette reads whatever lay in memory: refuse it.
void check_palette_indices(Bytes bytes, const BmpFields& f) {
  const std::uint32_t per_byte = 8 / f.bits;
  const std::uint32_t mask = (1U << f.bits) - 1;
  for (std::int64_t y = 0; y < f.height; ++y) {
    for (std::int64_t x = 0; x < f.width; ++x) {
      const auto at = static_cast<std::size_t>(f.offset + y * f.row_bytes + x / per_byte);
      const auto shift = static_cast<std::uint32_t>((per_byte - 1 - x % per_byte) * f.bits);
      if (at >= bytes.size()) return;  // lenient: the rest is missing
      const std::uint32_t index = (std::to_integer<std::uint32_t>(bytes[at]) >> shift) & mask;
      if (index >= f.palette_entries) fail("bmp: a pixel's colour is not in the palette");
    }
  }
}

StbClaims read_bmp(Bytes bytes, bool lenient) {
  BmpFields f = read_bmp_fields(bytes);
  require(f.compression != 1 && f.compression != 2, "bmp: RLE compression is not supported");
  require(f.compression != 4 && f.compression != 5, "bmp: embedded JPEG and PNG are not supported");
  StbClaims claims{f.width, f.height};
  claims.raw_bytes = f.row_bytes * f.height;
  claims.fillable = true;
  claims.filler = std::byte{0x80};
  require(f.offset >= 14 + f.header_bytes, "bmp: the pixel offset lies inside the header");
  const std::int64_t end = std::int64_t{f.offset} + claims.raw_bytes;
  if (!lenient) require(end <= static_cast<std::int64_t>(bytes.size()), "bmp: the file is truncated");
  if (f.bits <= 8) {
    // stb takes every entry between header and pixels for the palette, whatever biClrUsed says.
    f.palette_entries = (std::int64_t{f.offset} - 14 - f.header_bytes) / (f.core ? 3 : 4);
    if (f.palette_entries > 256) f.palette_entries = 256;
    if (f.colors > 0 && f.colors < f.palette_entries) f.palette_entries = f.colors;
    check_palette_indices(bytes, f);
  }
  return claims;
}

StbClaims read_tga(Bytes bytes, bool lenient) {
  StbClaims claims{little_endian(bytes, 12, 2), little_endian(bytes, 14, 2)};
  const std::uint32_t type = little_endian(bytes, 2, 1);
  const std::int64_t pixel_bytes = (little_endian(bytes, 16, 1) + 7) / 8;
  const std::int64_t map_bytes = little_endian(bytes, 1, 1) == 0 ? 0
                                                                 : std::int64_t{little_endian(bytes, 5, 2)} *
                                                                       ((little_endian(bytes, 7, 1) + 7) / 8);
  const std::int64_t data = 18 + little_endian(bytes, 0, 1) + map_bytes;
  claims.raw_bytes = claims.width * claims.height * pixel_bytes;
  const bool packed = type >= 8;
  // A packet of 1 + pixel_bytes bytes gives up to 128 pixels.
  if (packed) claims.best_ratio = 128 * pixel_bytes / (1 + pixel_bytes) + 1;
  claims.fillable = true;
  claims.filler = std::byte{0x80};
  if (!lenient && !packed) {
    require(data + claims.raw_bytes <= static_cast<std::int64_t>(bytes.size()), "tga: the file is truncated");
  }
  return claims;
}

// GIF and PSD have readers of our own; --codec stb takes only what they find in order. What their first rows
// would show is decoded here too, so damage in the pixels counts.
Image decode_strictly(std::unique_ptr<Reader> (*open)(Bytes, const DecodeOptions&), Bytes bytes,
                      DecodeOptions options) {
  options.lenient = false;
  const auto reader = open(bytes, options);
  Image image(reader->header().shape, options.memory);
  reader->read_rows(image.view());
  return image;
}

// stb takes the fourth channel for transparency whatever it is, unpacks rows of 16 bits as if they were of 8,
// knows no file without a composite, and converts colours out of range to bytes where it takes the white out
// of half-transparent pixels.
StbClaims read_psd(Bytes bytes, const DecodeOptions& options) {
  const Image image = decode_strictly(open_psd, bytes, options);
  const std::int64_t channels = big_endian(bytes, 12, 2);
  require(big_endian(bytes, 4, 2) == 1, "psd: stb_image reads version 1 only");
  require(big_endian(bytes, 24, 2) == 3, "psd: stb_image reads RGB only");
  require(channels <= 16, "psd: stb_image reads at most 16 channels");
  StbClaims claims{image.shape().width, image.shape().height};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 22, 2));
  claims.bytes_per_pixel = 24;
  std::size_t at = 26;
  for (int section = 0; section < 3; ++section) at += 4 + std::size_t{big_endian(bytes, at, 4)};
  const bool packed = big_endian(bytes, at, 2) != 0;
  require(claims.bits_per_sample == 8 || !packed, "psd: stb_image is wrong on packed rows of 16 bits");
  if (channels > 3) {
    require(image.shape().has_alpha(),
            "psd: stb_image takes the channel behind the colours for transparency");
    require(claims.bits_per_sample == 8, "psd: stb_image is wrong on transparency of 16 bits");
    const Sample* alpha = image.view().data + 3;
    for (std::int64_t i = 0; i < image.shape().pixels(); ++i, alpha += 4) {
      require(*alpha == 0 || *alpha == kMaxSample, "psd: stb_image is wrong on partial transparency");
    }
  }
  return claims;
}

// stb paints what the first frame does not cover with the background colour, its red and blue exchanged.
StbClaims read_gif(Bytes bytes, const DecodeOptions& options) {
  const Image image = decode_strictly(open_gif, bytes, options);
  require(gif_frame_covers_screen(bytes) || little_endian(bytes, 11, 1) == 0,
          "gif: stb_image paints what lies outside the first frame");
  return {image.shape().width, image.shape().height};
}

StbClaims read_png(Bytes bytes) {
  require(bytes.size() >= 33, "png: the header is truncated");
  // Apple's CgBI files begin with a chunk of that name; stb gives their colours as they are, blended and
  // swapped.
  require(big_endian(bytes, 12, 4) == 0x49484452, "png: the first chunk is not IHDR");
  StbClaims claims{big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 24, 1));
  claims.bytes_per_pixel = 32;
  require(claims.width <= 0x7FFFFFFF && claims.height <= 0x7FFFFFFF, "png: too large");
  claims.raw_bytes = (claims.width * claims.height + 7) / 8;  // at least a bit a pixel
  claims.best_ratio = 1032;
  return claims;
}

// --codec stb only; it knows raw 8-bit PGM and PPM with maxval 255 well enough, and no others.
StbClaims read_netpbm(Bytes bytes) {
  const std::uint32_t kind = little_endian(bytes, 1, 1);
  require(kind == '5' || kind == '6', "stb_image reads raw PGM and PPM only");
  std::size_t at = 2;
  std::int64_t numbers[3] = {};
  for (std::int64_t& number : numbers) {
    std::uint32_t c = 0;
    while ((c = little_endian(bytes, at, 1)) == '#' || c == ' ' || (c >= '\t' && c <= '\r')) {
      if (c == '#') {
        while (at < bytes.size() && little_endian(bytes, at, 1) != '\n') ++at;
      } else {
        ++at;
      }
    }
    require(c >= '0' && c <= '9', "Netpbm: the header is truncated or damaged");
    while ((c = little_endian(bytes, at, 1)) >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
      require(number <= 0x7FFFFFFF, "Netpbm: a number is out of range");
      ++at;
    }
  }
  require(numbers[2] == 255, "stb_image reads Netpbm files of maximum value 255 only");
  StbClaims claims{numbers[0], numbers[1]};
  require(claims.width <= (1 << 24) && claims.height <= (1 << 24), "too large for stb_image");
  claims.raw_bytes = claims.width * claims.height * (kind == '6' ? 3 : 1);
  return claims;
}

}  // namespace

StbClaims read_stb_claims(std::span<const std::byte> bytes, Format format, const DecodeOptions& options) {
  switch (format) {
    case Format::bmp:
      return read_bmp(bytes, options.lenient);
    case Format::tga:
      return read_tga(bytes, options.lenient);
    case Format::psd:
      return read_psd(bytes, options);
    case Format::gif:
      return read_gif(bytes, options);
    case Format::jpeg:
      return read_stb_jpeg_claims(bytes);
    case Format::png:
      return read_png(bytes);
    default:
      return read_netpbm(bytes);
  }
}

}  // namespace imgpipe
