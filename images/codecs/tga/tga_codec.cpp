#include "images/codecs/tga/tga_codec.h"

#include <string>

#include "images/codecs/mark.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

constexpr std::size_t kHeaderBytes = 18;
constexpr std::size_t kFooterBytes = 26;

}  // namespace

// TGA has no signature (Truevision TGA 2.0, 1989): all 18 header bytes must make sense together.
bool is_tga(Bytes beginning) {
  if (beginning.size() < kHeaderBytes) return false;
  const auto byte = [&](std::size_t at) { return little_endian(beginning, at, 1); };
  const std::uint32_t has_map = byte(1);
  const std::uint32_t type = byte(2);
  const std::uint32_t depth = byte(16);
  if (has_map > 1 || little_endian(beginning, 12, 2) == 0 || little_endian(beginning, 14, 2) == 0)
    return false;
  const bool indexed = type == 1 || type == 9;
  const bool true_color = type == 2 || type == 10;
  const bool grey = type == 3 || type == 11;
  if (indexed) {
    const std::uint32_t map_bits = byte(7);
    return has_map == 1 && little_endian(beginning, 5, 2) > 0 && (depth == 8 || depth == 16) &&
           (map_bits == 15 || map_bits == 16 || map_bits == 24 || map_bits == 32);
  }
  if (true_color) return depth == 15 || depth == 16 || depth == 24 || depth == 32;
  return grey && has_map == 0 && (depth == 8 || depth == 16);
}

FileClaim tga_claim(Bytes beginning) {
  return {.width = little_endian(beginning, 12, 2), .height = little_endian(beginning, 14, 2)};
}

bool has_tga_footer(Bytes file) {
  using namespace std::string_view_literals;
  return file.size() >= kHeaderBytes + kFooterBytes &&
         stands_at(file, file.size() - kFooterBytes + 8, "TRUEVISION-XFILE.\0"sv);
}

Bytes tga_extension(Bytes file) {
  constexpr std::size_t kExtensionBytes = 495;
  if (!has_tga_footer(file)) return {};
  const std::size_t at = little_endian(file, file.size() - kFooterBytes, 4);
  if (at < kHeaderBytes || little_endian(file, at, 2) < kExtensionBytes) return {};
  return bytes_at(file, at, kExtensionBytes);
}

// The image ID behind the header (Truevision TGA 2.0, field 6).
void add_tga_mark(std::vector<std::byte>& file, const Mark& mark) {
  const std::string text = mark_text(mark);
  file[0] = static_cast<std::byte>(text.size());
  insert_bytes(file, kHeaderBytes, std::as_bytes(std::span(text)));
}

Mark find_tga_mark(Bytes beginning) {
  return mark_of(bytes_at(beginning, kHeaderBytes, big_endian(beginning, 0, 1)));
}

}  // namespace imgpipe
