#include "images/codecs/tga/tga_codec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/metadata/texts.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

constexpr std::size_t kFooterBytes = 26;

// Text fields are padded with NULs or, by some writers, with blanks.
Bytes up_to_nul(Bytes field) {
  auto end = std::ranges::find(field, std::byte{0});
  while (end != field.begin() && end[-1] == std::byte{' '}) --end;
  return {field.begin(), end};
}

std::string latin1_text(Bytes field) {
  const Bytes text = up_to_nul(field);
  return utf8_of_latin1({reinterpret_cast<const char*>(text.data()), text.size()});
}

bool is_set(Bytes field) {
  return std::ranges::any_of(field, [](std::byte byte) { return byte != std::byte{0}; });
}

}  // namespace

// TGA has no signature (Truevision TGA 2.0, 1989): all 18 header bytes must make sense together.
bool is_tga(Bytes beginning) {
  if (beginning.size() < kTgaHeaderBytes) return false;
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
  return file.size() >= kTgaHeaderBytes + kFooterBytes &&
         matches_at(file, file.size() - kFooterBytes + 8, "TRUEVISION-XFILE.\0"sv);
}

Bytes tga_extension(Bytes file) {
  constexpr std::size_t kExtensionBytes = 495;
  if (!has_tga_footer(file)) return {};
  const std::size_t at = little_endian(file, file.size() - kFooterBytes, 4);
  if (at < kTgaHeaderBytes || little_endian(file, at, 2) < kExtensionBytes) return {};
  return bytes_at(file, at, kExtensionBytes);
}

void add_tga_mark(std::vector<std::byte>& file, const Mark& mark) {
  const std::string text = mark_text(mark);
  file[0] = static_cast<std::byte>(text.size());
  insert_bytes(file, kTgaHeaderBytes, std::as_bytes(std::span(text)));
}

// Truevision TGA 2.0, fields 6 and 10 to 28. Skips gamma, key colour, aspect ratio and the program's name and
// version, which describe how the file was made or is displayed.
FoundMetadata find_tga_metadata(std::span<const std::byte> file) {
  FoundMetadata found;
  const Bytes id = bytes_at(file, kTgaHeaderBytes, big_endian(file, 0, 1));
  if (mark_of(id) == Mark::none) found.add_comment(up_to_nul(id));
  if (!has_tga_footer(file)) return found;
  if (little_endian(file, file.size() - kFooterBytes + 4, 4) != 0) found.lose("TGA developer area");
  const Bytes extension = tga_extension(file);
  if (extension.empty()) return found;
  constexpr std::size_t kAuthor = 2, kComments = 43, kDate = 367, kJob = 379, kStamp = 486, kLineBytes = 81;
  MetadataText author{.keyword = "Author", .text = latin1_text(extension.subspan(kAuthor, 41))};
  if (!author.text.empty()) found.add_text(std::move(author));
  std::vector<std::byte> lines;
  for (std::size_t i = 0; i < 4; ++i) {
    const Bytes line = up_to_nul(extension.subspan(kComments + i * kLineBytes, kLineBytes));
    if (line.empty()) continue;
    if (!lines.empty()) lines.push_back(std::byte{'\n'});
    lines.insert(lines.end(), line.begin(), line.end());
  }
  found.add_comment(lines);
  if (is_set(extension.subspan(kDate, 12))) found.lose("TGA date");
  if (is_set(extension.subspan(kJob, 47))) found.lose("TGA job name and time");
  if (is_set(extension.subspan(kStamp, 4))) found.lose("TGA postage stamp");
  return found;
}

Mark find_tga_mark(Bytes beginning) {
  return mark_of(bytes_at(beginning, kTgaHeaderBytes, big_endian(beginning, 0, 1)));
}

}  // namespace imgpipe
