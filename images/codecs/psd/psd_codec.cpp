#include "images/codecs/psd/psd_codec.h"

#include <algorithm>
#include <string_view>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/psd/psd_header.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// Returns the offset of the pixels, after three sections. Each is preceded by its length: four bytes, or
// eight for a PSB's last section (Adobe Photoshop File Formats Specification).
std::int64_t bytes_of_sections(Bytes bytes) {
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

}  // namespace

bool is_psd(Bytes beginning) {
  return matches_at(beginning, 0, "8BPS"sv);
}

// The composite image contains all channels.
FileClaim psd_claim(Bytes beginning) {
  return {.width = big_endian(beginning, 18, 4),
          .height = big_endian(beginning, 14, 4),
          .max_pixel_bytes = 2 * std::int64_t{big_endian(beginning, 12, 2)},
          .other_bytes = bytes_of_sections(beginning)};
}

FoundMetadata find_psd_metadata(std::span<const std::byte> file) {
  constexpr std::uint32_t kExif = 1058, kXmp = 1060;
  FoundMetadata found;
  try {
    const Psd psd = read_psd(file);
    find_photoshop_metadata(psd.resources, found);
    for_each_photoshop_resource(psd.resources, [&](std::uint32_t id, Bytes data) {
      if (id == kExif) found.exif = data;
      if (id == kXmp && data.size() > kMaxXmpBytes) found.lose("XMP (too long)");
      if (id == kXmp && data.size() <= kMaxXmpBytes) found.xmp.assign(data.begin(), data.end());
    });
    const Bytes profile = psd.profile.first(std::min(psd.profile.size(), kMaxProfileBytes));
    found.icc.assign(profile.begin(), profile.end());
    found.resolution = psd.resolution();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    found = {};  // damaged: the reader reports it
  }
  return found;
}

}  // namespace imgpipe
