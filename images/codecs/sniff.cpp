#include "images/codecs/sniff.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "images/codecs/codec.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// TGA has no signature (Truevision TGA 2.0, 1989): all 18 header bytes must make sense together.
bool looks_like_tga(std::span<const std::byte> bytes) {
  if (bytes.size() < 18) return false;
  const auto byte = [&](std::size_t at) { return little_endian(bytes, at, 1); };
  const std::uint32_t has_map = byte(1);
  const std::uint32_t type = byte(2);
  const std::uint32_t depth = byte(16);
  if (has_map > 1 || little_endian(bytes, 12, 2) == 0 || little_endian(bytes, 14, 2) == 0) return false;
  const bool indexed = type == 1 || type == 9;
  const bool true_color = type == 2 || type == 10;
  const bool grey = type == 3 || type == 11;
  if (indexed) {
    const std::uint32_t map_bits = byte(7);
    return has_map == 1 && little_endian(bytes, 5, 2) > 0 && (depth == 8 || depth == 16) &&
           (map_bits == 15 || map_bits == 16 || map_bits == 24 || map_bits == 32);
  }
  if (true_color) return depth == 15 || depth == 16 || depth == 24 || depth == 32;
  return grey && has_map == 0 && (depth == 8 || depth == 16);
}

bool white_space(std::span<const std::byte> bytes, std::size_t at) {
  const std::uint32_t c = little_endian(bytes, at, 1);
  return bytes.size() > at && (c == ' ' || c == '#' || (c >= '\t' && c <= '\r'));
}

}  // namespace

bool stands_at(std::span<const std::byte> bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;) {
    value = (value << 8) | (at + i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
  }
  return value;
}

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = (value << 8) | (at + i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
  }
  return value;
}

std::uint64_t big_endian_64(std::span<const std::byte> bytes, std::size_t at) {
  return (std::uint64_t{big_endian(bytes, at, 4)} << 32) | big_endian(bytes, at + 4, 4);
}

std::optional<Format> format_by_content(std::span<const std::byte> bytes) {
  if (stands_at(bytes, 0, "\xFF\xD8\xFF"sv)) return Format::jpeg;
  if (stands_at(bytes, 0, "\x89PNG\r\n\x1A\n"sv)) return Format::png;
  if (stands_at(bytes, 0, "BM"sv)) return Format::bmp;
  if (stands_at(bytes, 0, "GIF87a"sv) || stands_at(bytes, 0, "GIF89a"sv)) return Format::gif;
  if (stands_at(bytes, 0, "8BPS"sv)) return Format::psd;
  if (stands_at(bytes, 0, "P"sv) && white_space(bytes, 2)) {
    const std::uint32_t digit = little_endian(bytes, 1, 1);
    if (digit == '1' || digit == '4') return Format::pbm;
    if (digit == '2' || digit == '5') return Format::pgm;
    if (digit == '3' || digit == '6') return Format::ppm;
  }
  if (looks_like_tga(bytes)) return Format::tga;
  return std::nullopt;
}

std::string unknown_content_reason(std::span<const std::byte> bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kKnown{{
      {"II*\0"sv, "TIFF"sv},
      {"MM\0*"sv, "TIFF"sv},
      {"II+\0"sv, "BigTIFF"sv},
      {"#?RADIANCE"sv, "Radiance HDR"sv},
      {"#?RGBE"sv, "Radiance HDR"sv},
      {"\x53\x80\xF6\x34"sv, "Softimage PIC"sv},
      {"v/1\x01"sv, "OpenEXR"sv},
      {"\0\0\0\x0CJXL "sv, "JPEG XL"sv},
      {"\xFF\x0A"sv, "JPEG XL"sv},
      {"\0\0\0\x0CjP  "sv, "JPEG 2000"sv},
      {"%PDF"sv, "PDF"sv},
      {"P7"sv, "PAM"sv},
      {"PF"sv, "PFM"sv},
      {"Pf"sv, "PFM"sv},
  }};
  std::string_view name;
  for (const auto& [signature, format] : kKnown) {
    if (name.empty() && stands_at(bytes, 0, signature)) name = format;
  }
  if (stands_at(bytes, 0, "RIFF"sv) && stands_at(bytes, 8, "WEBP"sv)) name = "WebP"sv;
  if (stands_at(bytes, 4, "ftypavif"sv)) name = "AVIF"sv;
  if (stands_at(bytes, 4, "ftyphei"sv) || stands_at(bytes, 4, "ftypmif1"sv)) name = "HEIF"sv;
  if (name.empty()) return "not an image of a known format";
  return std::string(name) + " images are not supported";
}

}  // namespace imgpipe
