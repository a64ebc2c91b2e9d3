#include "images/codecs/gif/gif_codec.h"

#include <algorithm>
#include <string_view>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHeaderBytes = 13;

std::size_t color_table_bytes(Bytes bytes, std::size_t flags_at) {
  const std::uint32_t flags = little_endian(bytes, flags_at, 1);
  return (flags & 0x80) != 0 ? std::size_t{6} << (flags & 7) : 0;
}

// Returns the offset just past the terminator of the sub-blocks at `at`, or the end of `bytes`.
std::size_t end_of_sub_blocks(Bytes bytes, std::size_t at) {
  std::uint32_t sub_block = 1;
  while (at < bytes.size() && sub_block != 0) {
    sub_block = little_endian(bytes, at, 1);
    at += 1 + sub_block;
  }
  return std::min(at, bytes.size());
}

std::vector<std::byte> joined_sub_blocks(Bytes blocks) {
  std::vector<std::byte> joined;
  for (std::size_t at = 0; at < blocks.size() && joined.size() <= kMaxTextBytes;) {
    const std::size_t bytes = little_endian(blocks, at, 1);
    const Bytes data = blocks.subspan(at + 1, std::min(bytes, blocks.size() - at - 1));
    joined.insert(joined.end(), data.begin(), data.end());
    at += 1 + bytes;
  }
  return joined;
}

// Takes the data of an application extension (section 26). XMP is stored without sub-blocks; the 258 bytes
// after it lead readers that expect sub-blocks to the terminator. Animation loops and program settings are
// not metadata.
void take_application(Bytes blocks, FoundMetadata& found) {
  constexpr std::size_t kIdentifierBytes = 12, kTrailerBytes = 258;
  const std::size_t front = std::min(kIdentifierBytes, blocks.size());
  if (matches_at(blocks, 1, "XMP DataXMP"sv)) {
    const std::size_t bytes = blocks.size() - front;
    const bool fits = bytes > kTrailerBytes && bytes - kTrailerBytes <= kMaxXmpBytes;
    if (!fits) return found.lose("XMP (damaged or too long)");
    const Bytes packet = blocks.subspan(front, bytes - kTrailerBytes);
    found.xmp.assign(packet.begin(), packet.end());
  } else if (matches_at(blocks, 1, "ICCRGBG1012"sv)) {
    found.lose("ICC profile (not supported in GIF)");
  } else if (!matches_at(blocks, 1, "NETSCAPE2.0"sv) && !matches_at(blocks, 1, "ANIMEXTS1.0"sv)) {
    const Bytes name = blocks.subspan(std::min<std::size_t>(1, blocks.size()));
    const std::string_view identifier(reinterpret_cast<const char*>(name.data()),
                                      std::min<std::size_t>(8, name.size()));
    found.lose("application extension \"" + printable(identifier) + "\"");
  }
}

// Returns the end of a GIF's blocks (GIF89a, appendix A): after the trailer or an invalid block type;
// kEndless if they continue beyond these bytes.
std::int64_t end_of_blocks(Bytes bytes) {
  std::size_t at = kHeaderBytes + color_table_bytes(bytes, 10);
  while (at < bytes.size()) {
    const std::uint32_t block = little_endian(bytes, at, 1);
    if (block == 0) {  // some writers terminate blocks twice
      ++at;
      continue;
    }
    if (block != 0x21 && block != 0x2C) return static_cast<std::int64_t>(at) + 1;
    at += block == 0x21 ? 2 : 11 + color_table_bytes(bytes, at + 9);
    std::uint32_t sub_block = 1;
    while (at < bytes.size() && sub_block != 0) {
      sub_block = little_endian(bytes, at, 1);
      at += 1 + sub_block;
    }
  }
  return kEndless;
}

}  // namespace

bool is_gif(Bytes beginning) {
  return matches_at(beginning, 0, "GIF87a"sv) || matches_at(beginning, 0, "GIF89a"sv);
}

FileClaim gif_claim(Bytes beginning) {
  return {.width = little_endian(beginning, 6, 2),
          .height = little_endian(beginning, 8, 2),
          .other_bytes = end_of_blocks(beginning)};
}

// Finds comments (section 24), XMP (XMP Specification Part 3, 1.1.2), and names of other extensions.
FoundMetadata find_gif_metadata(std::span<const std::byte> file) {
  constexpr std::uint32_t kExtension = 0x21, kImage = 0x2C, kPlainText = 0x01, kComment = 0xFE,
                          kApplication = 0xFF;
  FoundMetadata found;
  std::size_t at = kHeaderBytes + color_table_bytes(file, 10);
  while (at < file.size()) {
    const std::uint32_t block = little_endian(file, at, 1), label = little_endian(file, at + 1, 1);
    if (block == 0) {
      ++at;
      continue;
    }
    if (block != kExtension && block != kImage) break;
    at = std::min(file.size(), at + (block == kExtension ? 2 : 11 + color_table_bytes(file, at + 9)));
    const std::size_t end = end_of_sub_blocks(file, at);
    const Bytes blocks = file.subspan(at, end - at);
    if (block == kExtension && label == kComment) found.add_comment(joined_sub_blocks(blocks));
    if (block == kExtension && label == kPlainText) found.lose("plain text extension");
    if (block == kExtension && label == kApplication) take_application(blocks, found);
    at = end;
  }
  return found;
}

}  // namespace imgpipe
