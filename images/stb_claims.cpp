#include "images/stb_claims.h"

#include <algorithm>
#include <string>

#include "images/bmp_header.h"
#include "images/error.h"
#include "images/sniff.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

// A palette index beyond the palette reads whatever lay in memory: refuse it.
void check_palette_indices(Bytes bytes, const BmpHeader& bmp) {
  const int per_byte = 8 / bmp.bits;
  const std::uint32_t mask = (1U << bmp.bits) - 1;
  for (std::int64_t y = 0; y < bmp.height; ++y) {
    for (std::int64_t x = 0; x < bmp.width; ++x) {
      const std::size_t at = bmp.pixels_at + static_cast<std::size_t>(y * bmp.row_bytes() + x / per_byte);
      const auto shift = (per_byte - 1 - x % per_byte) * bmp.bits;
      const std::uint32_t index = (little_endian(bytes, at, 1) >> shift) & mask;
      require(index < bmp.palette.size(), "bmp: a pixel's colour is not in the palette");
    }
  }
}

StbClaims read_bmp(Bytes bytes, bool lenient) {
  const BmpHeader bmp = read_bmp_header(bytes, lenient);
  require(bmp.packing == BmpPacking::none, "bmp: stb_image does not support RLE compression");
  require(bmp.header_bytes >= 40 && bmp.header_bytes != 64, "bmp: stb_image does not support OS/2 headers");
  require(bmp.header_bytes != 56, "bmp: stb_image misreads the masks of a 56-byte header");
  require(bmp.bits != 2, "bmp: stb_image does not support 2 bits a pixel");
  require(bmp.width <= (1 << 24) && bmp.height <= (1 << 24), "bmp: too large for stb_image");
  StbClaims claims{bmp.width, bmp.height};
  claims.raw_bytes = bmp.row_bytes() * bmp.height;
  claims.fillable = !bmp.indexed() && bmp.bits != 32;  // a filler would be a colour's number, or an alpha
  claims.filler = std::byte{0x80};
  const std::int64_t end = static_cast<std::int64_t>(bmp.pixels_at) + claims.raw_bytes;
  const bool whole = end <= static_cast<std::int64_t>(bytes.size());
  require(whole || (lenient && claims.fillable), "bmp: the file is truncated");
  if (bmp.indexed()) check_palette_indices(bytes, bmp);
  return claims;
}

StbClaims read_tga(Bytes bytes, bool lenient) {
  StbClaims claims{little_endian(bytes, 12, 2), little_endian(bytes, 14, 2)};
  const std::uint32_t type = little_endian(bytes, 2, 1);
  const std::uint32_t descriptor = little_endian(bytes, 17, 1);
  const bool indexed = type % 8 == 1;
  const bool has_palette = little_endian(bytes, 1, 1) != 0;
  require((descriptor & 0xC0) == 0, "tga: stb_image does not support interleaved rows");
  require((descriptor & 0x10) == 0, "tga: stb_image does not support rows from right to left");
  require(!indexed || little_endian(bytes, 3, 2) == 0,
          "tga: stb_image does not support a palette whose first index is not 0");
  require(indexed || !has_palette, "tga: stb_image does not support a palette that the pixels do not use");
  const std::int64_t pixel_bytes = (little_endian(bytes, 16, 1) + 7) / 8;
  const std::int64_t map_bytes =
      has_palette ? std::int64_t{little_endian(bytes, 5, 2)} * ((little_endian(bytes, 7, 1) + 7) / 8) : 0;
  const std::int64_t data = 18 + little_endian(bytes, 0, 1) + map_bytes;
  claims.raw_bytes = claims.width * claims.height * pixel_bytes;
  const bool packed = type >= 8;
  // A packet of 1 + pixel_bytes bytes gives up to 128 pixels.
  if (packed) claims.best_ratio = 128 * pixel_bytes / (1 + pixel_bytes) + 1;
  claims.fillable = !indexed && (pixel_bytes == 1 || pixel_bytes == 3);
  claims.filler = std::byte{0x80};
  const bool whole = packed || data + claims.raw_bytes <= static_cast<std::int64_t>(bytes.size());
  require(whole || (lenient && claims.fillable), "tga: the file is truncated");
  return claims;
}

StbClaims read_psd(Bytes bytes) {
  require(bytes.size() >= 26, "psd: the header is truncated");
  StbClaims claims{big_endian(bytes, 18, 4), big_endian(bytes, 14, 4)};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 22, 2));
  claims.bytes_per_pixel = 24;
  const std::int64_t channels = big_endian(bytes, 12, 2);
  require(claims.width <= 300000 && claims.height <= 300000, "psd: too large");
  require(channels >= 3 && channels <= 56, "psd: only RGB and RGBA are supported");
  claims.raw_bytes = claims.width * claims.height * 3 * (claims.bits_per_sample / 8);
  claims.best_ratio = 64;  // PackBits: two bytes give up to 128
  return claims;
}

// Walks the blocks before the first image (GIF89a specification, sections 18-26).
StbClaims read_gif(Bytes bytes) {
  require(bytes.size() >= 13, "gif: the header is truncated");
  StbClaims claims{little_endian(bytes, 6, 2), little_endian(bytes, 8, 2)};
  const auto table_bytes = [](std::uint32_t flags) -> std::size_t {
    return (flags & 0x80) != 0 ? std::size_t{3} << ((flags & 7) + 1) : 0;
  };
  bool transparent = false;
  std::size_t at = 13 + table_bytes(little_endian(bytes, 10, 1));
  while (at < bytes.size() && little_endian(bytes, at, 1) == 0x21) {
    if (little_endian(bytes, at + 1, 1) == 0xF9 && (little_endian(bytes, at + 3, 1) & 1) != 0)
      transparent = true;
    at += 2;
    std::uint32_t block = 0;
    while ((block = little_endian(bytes, at, 1)) != 0) at += 1 + std::size_t{block};
    ++at;
  }
  require(at < bytes.size(), "gif: the file is truncated");
  require(little_endian(bytes, at, 1) == 0x2C, "gif: no image in the file");
  require(at + 10 <= bytes.size(), "gif: the file is truncated");
  const std::int64_t x = little_endian(bytes, at + 1, 2);
  const std::int64_t y = little_endian(bytes, at + 3, 2);
  const std::int64_t width = little_endian(bytes, at + 5, 2);
  const std::int64_t height = little_endian(bytes, at + 7, 2);
  require(width > 0 && height > 0, "gif: the first frame has no pixels");
  require(x + width <= claims.width && y + height <= claims.height, "gif: the first frame exceeds the image");
  claims.opaque = !transparent && width == claims.width && height == claims.height;
  claims.raw_bytes = width * height;
  claims.best_ratio = 4096 * 8 / 3;  // a code of 3 bits or more gives up to 4096 pixels
  return claims;
}

// A Huffman table of more than 256 codes makes stb_image 2.27 write past its own (stb issue 1289). `at` is
// behind the segment's length, and as stb does this reads on past a segment that ends inside a table.
void check_huffman_tables(Bytes bytes, std::size_t at, std::size_t segment_bytes) {
  constexpr std::size_t kLengths = 16;
  const std::size_t end = at + segment_bytes;
  while (at < end) {
    std::uint32_t codes = 0;
    for (std::size_t i = 0; i < kLengths; ++i) codes += little_endian(bytes, at + 1 + i, 1);
    require(codes <= 256, "jpeg: a Huffman table has more than 256 codes");
    at += 1 + kLengths + codes;
  }
}

// --codec stb only: the frame header, and every Huffman table up to the end of the file.
StbClaims read_jpeg(Bytes bytes) {
  StbClaims claims;
  claims.bytes_per_pixel = 16;
  for (std::size_t at = 2; at + 1 < bytes.size();) {
    const std::uint32_t marker = little_endian(bytes, at + 1, 1);
    // Entropy-coded data, fill bytes and markers without a segment.
    if (little_endian(bytes, at, 1) != 0xFF || marker == 0xFF || marker <= 0x01 ||
        (marker >= 0xD0 && marker <= 0xD8)) {
      ++at;
      continue;
    }
    const std::size_t length = big_endian(bytes, at + 2, 2);
    const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame && claims.width == 0) {
      claims.height = big_endian(bytes, at + 5, 2);
      claims.width = big_endian(bytes, at + 7, 2);
    }
    if (marker == 0xC4 && length > 2) check_huffman_tables(bytes, at + 4, length - 2);
    // Look at every byte again rather than trust a length that may hide a table from us.
    at += 2;
  }
  require(claims.width > 0, "jpeg: no frame header");
  return claims;
}

StbClaims read_png(Bytes bytes) {
  require(bytes.size() >= 33, "png: the header is truncated");
  StbClaims claims{big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 24, 1));
  claims.bytes_per_pixel = 32;
  require(claims.width <= 0x7FFFFFFF && claims.height <= 0x7FFFFFFF, "png: too large");
  claims.raw_bytes = claims.width * ((claims.height + 7) / 8);  // at least a bit a pixel
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

StbClaims read_stb_claims(std::span<const std::byte> bytes, Format format, bool lenient) {
  switch (format) {
    case Format::bmp:
      return read_bmp(bytes, lenient);
    case Format::tga:
      return read_tga(bytes, lenient);
    case Format::psd:
      return read_psd(bytes);
    case Format::gif:
      return read_gif(bytes);
    case Format::jpeg:
      return read_jpeg(bytes);
    case Format::png:
      return read_png(bytes);
    default:
      return read_netpbm(bytes);
  }
}

}  // namespace imgpipe
