#include "images/codecs/sniff.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace imgpipe {

using namespace std::string_view_literals;

bool matches_at(std::span<const std::byte> bytes, std::size_t at, std::string_view text) {
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

std::span<const std::byte> bytes_at(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size() || bytes.size() - at < count) return {};
  return bytes.subspan(at, count);
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_big_endian(std::vector<std::byte>& out, std::size_t value, int count) {
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

void insert_bytes(std::vector<std::byte>& file, std::size_t at, std::span<const std::byte> bytes) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

std::string unknown_content_reason(std::span<const std::byte> bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kKnown{{
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
    if (name.empty() && matches_at(bytes, 0, signature)) name = format;
  }
  if (matches_at(bytes, 4, "ftypavif"sv)) name = "AVIF"sv;
  if (matches_at(bytes, 4, "ftyphei"sv) || matches_at(bytes, 4, "ftypmif1"sv)) name = "HEIF"sv;
  if (name.empty()) return "not an image of a known format";
  return std::string(name) + " images are not supported";
}

}  // namespace imgpipe
