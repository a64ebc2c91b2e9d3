// Metadata in a WebP's chunks: ICCP, EXIF and XMP (RFC 9649, section 2.7), if VP8X announces them.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

// Some writers put JPEG's identifier before the block.
Bytes without_identifier(Bytes exif) {
  constexpr std::string_view kIdentifier = "Exif\0\0"sv;
  return exif.subspan(matches_at(exif, 0, kIdentifier) ? kIdentifier.size() : 0);
}

std::string unread_chunk(std::string_view name) {
  return name == "C2PA"sv ? "JUMBF (C2PA)" : printable(name) + " chunk";
}

}  // namespace

FoundMetadata find_webp_metadata(std::span<const std::byte> file) {
  constexpr std::uint32_t kXmpFlag = 0x04, kExifFlag = 0x08, kProfileFlag = 0x20;
  constexpr std::array kRead{"VP8X"sv, "VP8 "sv, "VP8L"sv, "ALPH"sv, "ANIM"sv,
                             "ANMF"sv, "ICCP"sv, "EXIF"sv, "XMP "sv, "IMGP"sv};
  FoundMetadata found;
  if (!matches_at(file, 12, "VP8X"sv)) return found;
  const std::uint32_t flags = little_endian(file, 20, 1);
  for (std::size_t at = 12; at < file.size() && file.size() - at >= 8;) {
    const std::size_t size = little_endian(file, at + 4, 4);
    if (size > file.size() - at - 8) break;
    const Bytes data = file.subspan(at + 8, size);
    if ((flags & kProfileFlag) != 0 && found.icc.empty() && matches_at(file, at, "ICCP"sv)) {
      // Copies at most kMaxProfileBytes of a profile: enough to detect that a longer one is too long.
      const Bytes some = data.first(std::min(data.size(), kMaxProfileBytes));
      found.icc.assign(some.begin(), some.end());
    }
    if ((flags & kExifFlag) != 0 && found.exif.empty() && matches_at(file, at, "EXIF"sv))
      found.exif = without_identifier(data);
    if ((flags & kXmpFlag) != 0 && found.xmp.empty() && matches_at(file, at, "XMP "sv)) {
      if (size <= kMaxXmpBytes) {
        found.xmp.assign(data.begin(), data.end());
      } else {
        found.lose("XMP (too long)");
      }
    }
    const std::string_view name(reinterpret_cast<const char*>(file.data()) + at, 4);
    if (std::ranges::find(kRead, name) == kRead.end()) found.lose(unread_chunk(name));
    at += 8 + size + (size & 1);
  }
  return found;
}

}  // namespace imgpipe
