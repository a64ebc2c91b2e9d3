#include "images/codecs/bmp/bmp_header.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::uint32_t kOs2OldHeader = 12;
constexpr std::uint32_t kWindowsHeader = 40;
constexpr std::uint32_t kMasksInHeader = 52;      // this version and later
constexpr std::uint32_t kAlphaMaskInHeader = 56;  // this version and later
constexpr std::size_t kMasksAt = 54;              // offset: in the header, or just after a 40-byte header

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "bmp: " + reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

bool windows_header(std::uint32_t bytes) {
  return bytes == kWindowsHeader || bytes == kMasksInHeader || bytes == kAlphaMaskInHeader || bytes == 108 ||
         bytes == 124;
}

// An OS/2 2.x header may end after any field from the fourth on; missing fields are 0.
bool os2_new_header(std::uint32_t bytes) {
  return bytes >= 16 && bytes <= 64 && (bytes % 4 == 0 || bytes == 42 || bytes == 46) &&
         !windows_header(bytes);
}

// Raw fields of the header.
struct Fields {
  std::uint32_t planes = 0;
  std::uint32_t compression = 0;
  std::uint32_t colors = 0;  // in the palette; 0: two to the power of the bits per pixel
};

bool has_masks(std::uint32_t compression) {
  return compression == 3 || compression == 6;
}

// Compressions 3 and 4 differ between Windows and OS/2, whose headers may also have 40 bytes.
BmpPacking check_compression(std::uint32_t compression, const BmpHeader& header) {
  const bool os2 = !windows_header(header.header_bytes);
  if (compression == 3 && (os2 || header.bits == 1)) fail("Huffman 1D compression (OS/2) is not supported");
  if (compression == 4 && (os2 || header.bits == 24)) fail("RLE24 compression (OS/2) is not supported");
  if (compression == 4) fail("an embedded JPEG is not supported");
  if (compression == 5) fail("an embedded PNG is not supported");
  if (compression >= 11 && compression <= 13) fail("CMYK bitmaps are not supported");
  if (compression > 3 && (os2 || compression != 6))
    fail("compression " + std::to_string(compression) + " is unknown");
  constexpr std::array kBits{1, 2, 4, 8, 16, 24, 32};
  if (std::ranges::find(kBits, header.bits) == kBits.end()) {
    fail(std::to_string(header.bits) + " bits per pixel are not supported");
  }
  if (compression == 1) require(header.bits == 8, "RLE8 compression requires 8 bits per pixel");
  if (compression == 2) require(header.bits == 4, "RLE4 compression requires 4 bits per pixel");
  if (has_masks(compression)) {
    require(header.bits == 16 || header.bits == 32, "colour masks require 16 or 32 bits per pixel");
  }
  return compression == 1 ? BmpPacking::rle8 : compression == 2 ? BmpPacking::rle4 : BmpPacking::none;
}

Fields read_fields(std::span<const std::byte> bytes, BmpHeader& header) {
  require(bytes.size() >= kBmpFileHeaderBytes + 4, "the header is truncated");
  header.pixels_at = little_endian(bytes, 10, 4);
  header.header_bytes = little_endian(bytes, 14, 4);
  const std::uint32_t size = header.header_bytes;
  if (size != kOs2OldHeader && !windows_header(size) && !os2_new_header(size)) {
    fail("unknown header size: " + std::to_string(size) + " bytes");
  }
  const std::size_t end = kBmpFileHeaderBytes + size;
  require(bytes.size() >= end, "the header is truncated");
  const auto field = [&](std::size_t at, std::size_t count) {
    return at + count <= end ? little_endian(bytes, at, count) : 0U;
  };
  Fields fields;
  if (size == kOs2OldHeader) {
    header.width = field(18, 2);
    header.height = field(20, 2);
    fields.planes = field(22, 2);
    header.bits = static_cast<int>(field(24, 2));
  } else {
    header.width = static_cast<std::int32_t>(field(18, 4));
    header.height = static_cast<std::int32_t>(field(22, 4));
    fields.planes = field(26, 2);
    header.bits = static_cast<int>(field(28, 2));
    fields.compression = field(30, 4);
    fields.colors = field(46, 4);
    header.x_resolution = field(38, 4);
    header.y_resolution = field(42, 4);
  }
  constexpr std::uint32_t kProfileHeader = 124, kEmbedded = 0x4D424544, kLinked = 0x4C494E4B;
  const std::uint32_t color_space = field(70, 4);
  if (size == kProfileHeader && (color_space == kEmbedded || color_space == kLinked)) {
    header.profile_at = kBmpFileHeaderBytes + std::uint64_t{field(126, 4)};
    header.profile_bytes = field(130, 4);
    header.profile_is_linked = color_space == kLinked;
  }
  header.top_down = header.height < 0;
  header.height = std::abs(header.height);
  return fields;
}

bool one_run(std::uint32_t mask) {
  const std::uint32_t low = mask == 0 ? 0 : mask >> std::countr_zero(mask);
  return (low & (low + 1)) == 0;
}

void check_masks(const BmpHeader& header) {
  std::uint32_t used = header.bits == 16 ? 0xFFFF0000 : 0;
  for (const std::uint32_t mask : header.masks) {
    if (!one_run(mask)) fail("a colour mask has gaps");
    if ((mask & used) != 0) fail("colour masks overlap or do not fit the pixel");
    used |= mask;
  }
  if ((header.masks[0] | header.masks[1] | header.masks[2]) == 0) fail("the colour masks are empty");
}

// Reads the masks; returns the size of those after the header. In 32-bit pixels without masks, the fourth
// byte is padding ("not used", Microsoft; Pillow agrees) unless the header has an alpha mask for it.
std::size_t read_masks(std::span<const std::byte> bytes, std::uint32_t compression, BmpHeader& header) {
  const bool alpha_inside = windows_header(header.header_bytes) && header.header_bytes >= kAlphaMaskInHeader;
  const auto mask = [&](std::size_t i) { return little_endian(bytes, kMasksAt + 4 * i, 4); };
  if (!has_masks(compression)) {
    if (header.bits == 16) header.masks = {0x7C00, 0x03E0, 0x001F, 0};
    if (header.bits == 32) header.masks = {0xFF0000, 0xFF00, 0xFF, 0};
    if (header.bits == 32 && alpha_inside && mask(3) == 0xFF000000) header.masks[3] = mask(3);
    return 0;
  }
  const std::size_t count = compression == 6 || alpha_inside ? 4 : 3;
  const std::size_t end = kMasksAt + 4 * count;
  const std::size_t header_end = kBmpFileHeaderBytes + header.header_bytes;
  require(bytes.size() >= end, "the header is truncated");
  for (std::size_t i = 0; i < count; ++i) header.masks[i] = mask(i);
  check_masks(header);
  return end > header_end ? end - header_end : 0;
}

// `at` is the offset just past the header and its masks.
void read_palette(std::span<const std::byte> bytes, std::size_t at, std::uint32_t colors, bool lenient,
                  BmpHeader& header) {
  const std::size_t entry_bytes = header.header_bytes == kOs2OldHeader ? 3 : 4;
  const std::size_t most = std::size_t{1} << header.bits;
  const std::size_t capacity = (header.pixels_at - at) / entry_bytes;
  require(capacity > 0, "the palette is missing: the pixels directly follow the header");
  if (colors > capacity) {
    const std::string reason = "the header declares " + std::to_string(colors) +
                               " colours, but the palette has space for " + std::to_string(capacity);
    if (!lenient) fail(reason);
    header.warnings.push_back("damaged bmp: " + reason);
  }
  const std::size_t count = std::min({colors > 0 ? std::size_t{colors} : most, most, capacity});
  require(bytes.size() >= at + count * entry_bytes, "the file is truncated inside its palette");
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bgr = little_endian(bytes, at + i * entry_bytes, 3);
    header.palette.push_back({static_cast<Sample8>(bgr >> 16), static_cast<Sample8>(bgr >> 8 & 0xFF),
                              static_cast<Sample8>(bgr & 0xFF), kMaxSample});
  }
}

}  // namespace

std::size_t bmp_end(std::span<const std::byte> file, const BmpHeader& header, std::size_t pixels_end) {
  std::uint64_t end = pixels_end;
  for (const std::uint64_t other :
       {std::uint64_t{little_endian(file, 2, 4)}, header.profile_at + header.profile_bytes})
    if (other <= file.size()) end = std::max(end, other);
  return end;
}

BmpHeader read_bmp_header(std::span<const std::byte> bytes, bool lenient) {
  BmpHeader header;
  const auto questionable = [&](const std::string& reason) {
    if (!lenient) fail(reason);
    header.warnings.push_back("damaged bmp: " + reason);
  };
  const Fields fields = read_fields(bytes, header);
  header.packing = check_compression(fields.compression, header);
  require(header.width >= 0, "the width is negative");
  require(header.width > 0 && header.height > 0, "the width or height is 0");
  if (fields.planes != 1) questionable(std::to_string(fields.planes) + " planes instead of 1");
  if (header.packing != BmpPacking::none && header.top_down) {
    questionable("RLE compression requires bottom-up rows");
  }
  const std::size_t header_end =
      kBmpFileHeaderBytes + header.header_bytes + read_masks(bytes, fields.compression, header);
  if (header.pixels_at < header_end) {
    fail("the pixels begin at byte " + std::to_string(header.pixels_at) + ", inside the header");
  }
  if (header.indexed()) read_palette(bytes, header_end, fields.colors, lenient, header);
  return header;
}

}  // namespace imgpipe
