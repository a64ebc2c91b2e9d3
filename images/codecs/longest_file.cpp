// How much of a file is worth reading, by its first bytes.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

struct Sides {
  std::int64_t width = 0, height = 0;  // 0: not known yet, or nothing that makes sense
};

Sides bmp_sides(Bytes bytes) {
  if (little_endian(bytes, 14, 4) == 12) return {little_endian(bytes, 18, 2), little_endian(bytes, 20, 2)};
  const auto side = [&](std::size_t at) {
    return std::abs(std::int64_t{static_cast<std::int32_t>(little_endian(bytes, at, 4))});
  };
  return {side(18), side(22)};
}

// The two numbers behind the magic; white space and comments may stand before each.
Sides netpbm_sides(Bytes bytes) {
  constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;
  bytes = bytes.first(std::min(bytes.size(), kMostHeaderBytes));
  Sides sides;
  std::size_t at = 2;
  for (std::int64_t* side : {&sides.width, &sides.height}) {
    bool comment = false;
    const auto c = [&] { return static_cast<char>(little_endian(bytes, at, 1)); };
    const auto digit = [&] { return c() >= '0' && c() <= '9'; };
    for (; at < bytes.size() && (comment || !digit()); ++at)
      comment = comment ? c() != '\n' && c() != '\r' : c() == '#';
    for (; at < bytes.size() && digit() && *side < std::numeric_limits<std::int32_t>::max(); ++at)
      *side = *side * 10 + (c() - '0');
    if (at == bytes.size()) return {};
  }
  return sides;
}

Sides claimed_sides(Bytes bytes, Format format) {
  switch (format) {
    case Format::jpeg: {
      const JpegFacts facts = read_jpeg_facts(bytes);
      return {facts.width, facts.height};
    }
    case Format::png:
      return {big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
    case Format::bmp:
      return bmp_sides(bytes);
    case Format::tga:
      return {little_endian(bytes, 12, 2), little_endian(bytes, 14, 2)};
    case Format::gif:
      return {little_endian(bytes, 6, 2), little_endian(bytes, 8, 2)};
    case Format::psd:
      return {big_endian(bytes, 18, 4), big_endian(bytes, 14, 4)};
    default:
      return netpbm_sides(bytes);
  }
}

// Where the blocks of a GIF end (GIF89a, appendix A): behind its trailer or at what is no block; kEndless
// where they go on beyond these bytes.
std::int64_t end_of_gif(Bytes bytes) {
  constexpr std::size_t kHeaderBytes = 13;
  const auto table_bytes = [&](std::size_t flags_at) {
    const std::uint32_t flags = little_endian(bytes, flags_at, 1);
    return (flags & 0x80) != 0 ? std::size_t{6} << (flags & 7) : 0;
  };
  std::size_t at = kHeaderBytes + table_bytes(10);
  while (at < bytes.size()) {
    const std::uint32_t block = little_endian(bytes, at, 1);
    if (block == 0) {  // some writers end blocks twice
      ++at;
      continue;
    }
    if (block != 0x21 && block != 0x2C) return static_cast<std::int64_t>(at) + 1;
    at += block == 0x21 ? 2 : 11 + table_bytes(at + 9);
    std::uint32_t sub_block = 1;
    while (at < bytes.size() && sub_block != 0) {
      sub_block = little_endian(bytes, at, 1);
      at += 1 + sub_block;
    }
  }
  return kEndless;
}

// What stands before the pixels of a PSD: three sections that begin with their lengths; that of the last has
// eight bytes in a PSB (Adobe Photoshop File Formats Specification).
std::int64_t psd_sections(Bytes bytes) {
  const bool big = big_endian(bytes, 4, 2) == 2;
  std::size_t at = 26;
  for (int section = 0; section < 3; ++section) {
    const bool wide = big && section == 2;
    const std::size_t length_bytes = wide ? 8 : 4;
    if (at + length_bytes > bytes.size()) return static_cast<std::int64_t>(at + length_bytes);
    const std::uint64_t length = wide ? big_endian_64(bytes, at) : big_endian(bytes, at, 4);
    if (length >= std::uint64_t{1} << 62) return kEndless;
    at += length_bytes + length;
  }
  return static_cast<std::int64_t>(at);
}

// As in max_file_bytes(). A PSD's picture has all of its channels.
std::int64_t most_bytes_a_pixel(Bytes bytes, Format format) {
  if (format == Format::psd) return 2 * std::int64_t{big_endian(bytes, 12, 2)};
  return format == Format::pbm || format == Format::pgm || format == Format::ppm ? 18 : 8;
}

// What comes besides pixels and metadata.
std::int64_t other_bytes(Bytes bytes, Format format) {
  if (format == Format::gif) return end_of_gif(bytes);
  return format == Format::psd ? psd_sections(bytes) : 0;
}

}  // namespace

std::int64_t longest_file(std::span<const std::byte> beginning, const DecodeOptions& options) {
  const std::optional<Format> format = format_by_content(beginning);
  if (!format) throw Error(ErrorKind::input, unknown_content_reason(beginning));
  const Sides sides = claimed_sides(beginning, *format);
  std::int64_t pixels = 0;
  if (sides.width > 0 && sides.height > 0) {
    check_header({sides.width, sides.height, 1}, options);
    pixels = sides.width * sides.height;
  }
  const std::int64_t other = other_bytes(beginning, *format);
  const std::int64_t most = max_file_bytes(options);
  if (other >= most) return most;
  return std::min(most, pixels * most_bytes_a_pixel(beginning, *format) + other + kMostMetadataBytes);
}

}  // namespace imgpipe
