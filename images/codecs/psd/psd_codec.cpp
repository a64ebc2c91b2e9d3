#include "images/codecs/psd/psd_codec.h"

#include <string_view>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// What stands before the pixels of a PSD: three sections that begin with their lengths; that of the last has
// eight bytes in a PSB (Adobe Photoshop File Formats Specification).
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
  return stands_at(beginning, 0, "8BPS"sv);
}

// Its picture has all of its channels.
FileClaim psd_claim(Bytes beginning) {
  return {.width = big_endian(beginning, 18, 4),
          .height = big_endian(beginning, 14, 4),
          .bytes_a_pixel = 2 * std::int64_t{big_endian(beginning, 12, 2)},
          .other_bytes = bytes_of_sections(beginning)};
}

}  // namespace imgpipe
