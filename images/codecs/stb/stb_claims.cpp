#include "images/codecs/stb/stb_claims.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/gif/gif_codec.h"
#include "images/codecs/psd/psd_codec.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/image.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

// Refuses palette indices beyond the palette, for which stb reads arbitrary memory.
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

StbClaims read_bmp(Bytes bytes, const DecodeOptions& options) {
  const bool lenient = options.lenient();
  const BmpHeader bmp = read_bmp_header(bytes, lenient);
  require(bmp.packing == BmpPacking::none, "bmp: stb_image does not support RLE compression");
  require(bmp.header_bytes >= 40 && bmp.header_bytes != 64, "bmp: stb_image does not support OS/2 headers");
  require(bmp.header_bytes != 56, "bmp: stb_image misreads the masks of a 56-byte header");
  require(bmp.bits != 2, "bmp: stb_image does not support 2 bits per pixel");
  require(bmp.width <= (1 << 24) && bmp.height <= (1 << 24), "bmp: too large for stb_image");
  StbClaims claims{bmp.width, bmp.height};
  claims.raw_bytes = bmp.row_bytes() * bmp.height;
  claims.fillable =
      !bmp.indexed() && bmp.bits != 32;  // a filler byte would be read as a palette index or as alpha
  claims.filler = std::byte{0x80};
  const std::int64_t end = static_cast<std::int64_t>(bmp.pixels_at) + claims.raw_bytes;
  const bool whole = end <= static_cast<std::int64_t>(bytes.size());
  require(whole || (lenient && claims.fillable), "bmp: the file is truncated");
  if (bmp.indexed()) check_palette_indices(bytes, bmp);
  return claims;
}

StbClaims read_tga(Bytes bytes, const DecodeOptions& options) {
  const bool lenient = options.lenient();
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
  // A packet of 1 + pixel_bytes bytes holds up to 128 pixels.
  if (packed) claims.best_ratio = 128 * pixel_bytes / (1 + pixel_bytes) + 1;
  claims.fillable = !indexed && (pixel_bytes == 1 || pixel_bytes == 3);
  claims.filler = std::byte{0x80};
  const bool whole = packed || data + claims.raw_bytes <= static_cast<std::int64_t>(bytes.size());
  require(whole || (lenient && claims.fillable), "tga: the file is truncated");
  return claims;
}

// Decodes a GIF or PSD with the built-in reader, because --codec stb accepts only files that this reader
// accepts. Decodes the whole image to detect damaged pixels.
Image decode_strictly(std::unique_ptr<Reader> (*open)(Bytes, const DecodeOptions&), Bytes bytes,
                      DecodeOptions options) {
  options.accept = Acceptance::strict;
  const auto reader = open(bytes, options);
  check_available(reader->header().shape.bytes() + reader->working_bytes(true));
  Image image(reader->header().shape, options.memory);
  reader->read_rows(image.untyped_view());
  return image;
}

// stb treats any fourth channel as transparency, unpacks rows of 16 bits as if they had 8, and cannot read a
// file without a composite. It converts out-of-range colours to bytes when it removes the white from
// half-transparent pixels.
StbClaims read_psd(Bytes bytes, const DecodeOptions& options) {
  const Image image = decode_strictly(open_psd, bytes, options);
  const std::int64_t channels = big_endian(bytes, 12, 2);
  require(big_endian(bytes, 4, 2) == 1, "psd: stb_image reads only version 1");
  require(big_endian(bytes, 24, 2) == 3, "psd: stb_image reads only RGB");
  require(channels <= 16, "psd: stb_image reads at most 16 channels");
  StbClaims claims{image.shape().width, image.shape().height};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 22, 2));
  claims.bytes_per_pixel = 24;
  claims.spurious_alpha = true;
  std::size_t at = 26;
  for (int section = 0; section < 3; ++section) at += 4 + std::size_t{big_endian(bytes, at, 4)};
  const bool packed = big_endian(bytes, at, 2) != 0;
  require(claims.bits_per_sample == 8 || !packed, "psd: stb_image misreads packed 16-bit rows");
  if (channels > 3) {
    require(image.shape().has_alpha(),
            "psd: stb_image misreads the channel after the colours as transparency");
    require(claims.bits_per_sample == 8, "psd: stb_image misreads 16-bit transparency");
    const Sample8* alpha = image.view().data + 3;
    for (std::int64_t i = 0; i < image.shape().pixels(); ++i, alpha += 4) {
      require(*alpha == 0 || *alpha == kMaxSample, "psd: stb_image misreads partial transparency");
    }
  }
  return claims;
}

// stb fills the area outside the first frame with the background colour, with red and blue exchanged.
StbClaims read_gif(Bytes bytes, const DecodeOptions& options) {
  const Image image = decode_strictly(open_gif, bytes, options);
  require(gif_frame_covers_screen(bytes) || little_endian(bytes, 11, 1) == 0,
          "gif: stb_image fills the area outside the first frame");
  return {.width = image.shape().width, .height = image.shape().height, .spurious_alpha = true};
}

StbClaims read_png(Bytes bytes, const DecodeOptions&) {
  require(bytes.size() >= 33, "png: the header is truncated");
  // Apple's CgBI files begin with that chunk; stb returns their colours as stored, premultiplied BGR.
  require(big_endian(bytes, 12, 4) == 0x49484452, "png: the first chunk is not IHDR");
  StbClaims claims{big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
  claims.bits_per_sample = static_cast<int>(big_endian(bytes, 24, 1));
  claims.bytes_per_pixel = 32;
  require(claims.width <= 0x7FFFFFFF && claims.height <= 0x7FFFFFFF, "png: too large");
  claims.raw_bytes = (claims.width * claims.height + 7) / 8;  // at least one bit per pixel
  claims.best_ratio = 1032;
  return claims;
}

// stb correctly reads only raw 8-bit PGM and PPM with a maximum value of 255.
StbClaims read_netpbm(Bytes bytes, const DecodeOptions&) {
  const std::uint32_t kind = little_endian(bytes, 1, 1);
  require(kind == '5' || kind == '6', "stb_image reads only raw PGM and PPM");
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
  require(numbers[2] == 255, "stb_image reads only Netpbm files with maximum value 255");
  StbClaims claims{numbers[0], numbers[1]};
  require(claims.width <= (1 << 24) && claims.height <= (1 << 24), "too large for stb_image");
  claims.raw_bytes = claims.width * claims.height * (kind == '6' ? 3 : 1);
  return claims;
}

StbClaims read_jpeg(Bytes bytes, const DecodeOptions&) {
  return read_stb_jpeg_claims(bytes);
}

using OpenFile = std::unique_ptr<Reader> (*)(Bytes, const DecodeOptions&);

struct StbFormat {
  Format format;
  StbClaims (*claims)(Bytes, const DecodeOptions&);
  OpenFile checking_reader = nullptr;  // built-in reader that decodes the file first
};
constexpr std::array kFormats{
    StbFormat{.format = Format::jpeg, .claims = read_jpeg},
    StbFormat{.format = Format::png, .claims = read_png},
    StbFormat{.format = Format::bmp, .claims = read_bmp},
    StbFormat{.format = Format::gif, .claims = read_gif, .checking_reader = open_gif},
    StbFormat{.format = Format::tga, .claims = read_tga},
    StbFormat{.format = Format::psd, .claims = read_psd, .checking_reader = open_psd},
    StbFormat{.format = Format::pgm, .claims = read_netpbm},
    StbFormat{.format = Format::ppm, .claims = read_netpbm},
};

const StbFormat& row_of(Format format) {
  return *std::ranges::find(kFormats, format, &StbFormat::format);
}

}  // namespace

bool stb_reads(Format format) {
  return std::ranges::find(kFormats, format, &StbFormat::format) != kFormats.end();
}

StbClaims read_stb_claims(std::span<const std::byte> bytes, Format format, const DecodeOptions& options) {
  return row_of(format).claims(bytes, options);
}

std::int64_t stb_opening_bytes(std::span<const std::byte> bytes, Format format,
                               const DecodeOptions& options) {
  if (const OpenFile open = row_of(format).checking_reader) {
    constexpr std::int64_t kLibraryBytes = 24;  // per pixel, at most
    DecodeOptions own = options;
    own.codec = CodecChoice::automatic;
    own.accept = Acceptance::strict;
    const std::unique_ptr<Reader> reader = open(bytes, own);
    const Shape& shape = reader->header().shape;
    return std::max(shape.bytes() + reader->working_bytes(true), kLibraryBytes * shape.pixels());
  }
  const StbClaims claims = read_stb_claims(bytes, format, options);
  check_header({claims.width, claims.height, 4}, options);
  return claims.bytes_per_pixel * claims.width * claims.height;
}

}  // namespace imgpipe
