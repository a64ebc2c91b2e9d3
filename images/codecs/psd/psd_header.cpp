#include "images/codecs/psd/psd_header.h"

#include <string>
#include <string_view>

#include "images/codecs/metadata/iptc.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "psd: " + reason);
}

PsdMode read_mode(std::uint32_t mode) {
  switch (mode) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 8:
      return static_cast<PsdMode>(mode);
    case 7:
      fail("multichannel mode is not supported");
    case 9:
      fail("Lab colour is not supported");
    default:
      fail("unknown colour mode");
  }
}

Psd read_header(Bytes file) {
  psd_require(file.size() >= 26, "the header is truncated");
  const std::uint32_t version = big_endian(file, 4, 2);
  psd_require(version == 1 || version == 2, "unknown version");
  Psd psd;
  psd.big = version == 2;
  psd.channels = big_endian(file, 12, 2);
  psd.height = big_endian(file, 14, 4);
  psd.width = big_endian(file, 18, 4);
  psd.depth = big_endian(file, 22, 2);
  psd.mode = read_mode(big_endian(file, 24, 2));
  const std::int64_t most = psd.big ? 300'000 : 30'000;
  psd_require(psd.width <= most && psd.height <= most, "too large for its version");
  psd_require(psd.channels >= psd.colors() && psd.channels <= 56,
              "the number of channels does not fit the mode");
  if (psd.mode == PsdMode::bitmap) {
    psd_require(psd.depth == 1, "a bitmap must have 1 bit per sample");
  } else {
    psd_require(psd.depth != 32, "32 bits per sample are not supported");
    psd_require(psd.depth == 8 || (psd.depth == 16 && psd.mode != PsdMode::indexed),
                "unsupported number of bits per sample");
  }
  psd.row_bytes = (psd.width * psd.depth + 7) / 8;
  return psd;
}

// Returns a section or block preceded by its length, and moves `at` past it.
Bytes take_section(Bytes file, std::size_t& at, std::size_t length_bytes) {
  psd_require(at + length_bytes <= file.size(), "the file is truncated");
  const std::uint64_t length = length_bytes == 8 ? big_endian_64(file, at) : big_endian(file, at, 4);
  at += length_bytes;
  psd_require(length <= file.size() - at, "the file is truncated");
  const Bytes section = file.subspan(at, length);
  at += length;
  return section;
}

// "Image resources section". Damage in it loses no pixels: unreadable resources are skipped.
void read_resources(Psd& psd) {
  constexpr std::uint32_t kResolution = 1005;
  constexpr std::uint32_t kProfile = 1039;
  constexpr std::uint32_t kTransparentIndex = 1047;
  constexpr std::uint32_t kVersionInfo = 1057;
  for_each_photoshop_resource(psd.resources, [&](std::uint32_t id, Bytes data) {
    if (id == kResolution && data.size() >= 16) {
      psd.x_resolution = big_endian(data, 0, 4);
      psd.y_resolution = big_endian(data, 8, 4);
    }
    if (id == kProfile) psd.profile = data;
    if (id == kTransparentIndex && data.size() >= 2)
      psd.transparent_index = static_cast<int>(big_endian(data, 0, 2));
    // "hasRealMergedData": if 0, Photoshop's composite is white, although some programs write a real one.
    if (id == kVersionInfo && data.size() >= 5) psd.has_composite = big_endian(data, 4, 1) != 0;
  });
}

// "Layer and mask information section": a negative layer count marks the first extra channel as the
// composite's transparency. 16-bit files have their layers in a final block Lr16, or a block Mt16 (Mtrn).
bool has_transparency(Bytes section, bool big) {
  const std::size_t field = big ? 8 : 4;
  const auto negative_at = [&](std::size_t at) { return (big_endian(section, at, 2) & 0x8000) != 0; };
  // Lengths may be damaged: every step stays inside the section or ends the loop.
  if (section.size() < field) return false;
  if (big_endian(section, field - 4, 4) != 0) return negative_at(field);
  std::size_t at = field + 4 + big_endian(section, field, 4);  // after the global layer mask
  while (at + 12 <= section.size()) {
    if (!matches_at(section, at, "8BIM"sv) && !matches_at(section, at, "8B64"sv)) return false;
    const auto is = [&, key = at + 4](std::string_view name) { return matches_at(section, key, name); };
    if (is("Mtrn"sv) || is("Mt16"sv)) return true;
    if (is("Lr16"sv)) return negative_at(at + 8 + field);
    const bool wide = big && (is("LMsk"sv) || is("Layr"sv) || is("Alph"sv) || is("FMsk"sv) || is("lnk2"sv) ||
                              is("FEid"sv) || is("FXid"sv) || is("PxSD"sv));
    // Photoshop pads the data of these blocks to four bytes.
    at += (wide ? 16 : 12) + (big_endian(section, at + (wide ? 12 : 8), 4) + std::size_t{3}) / 4 * 4;
  }
  return false;
}

}  // namespace

void psd_require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

Psd read_psd(Bytes file) {
  Psd psd = read_header(file);
  std::size_t at = 26;
  psd.palette = take_section(file, at, 4);
  psd_require(psd.mode != PsdMode::indexed || psd.palette.size() == 768, "the palette must have 256 colours");
  psd.resources = take_section(file, at, 4);
  read_resources(psd);
  const Bytes layers = take_section(file, at, psd.big ? 8 : 4);
  psd.transparency =
      psd.channels > psd.colors() && psd.mode != PsdMode::indexed && has_transparency(layers, psd.big);
  psd_require(at + 2 <= file.size(), "the file is truncated");
  const std::uint32_t compression = big_endian(file, at, 2);
  psd_require(compression <= 1,
              compression <= 3 ? "ZIP compression is not supported" : "unknown compression");
  psd.packed = compression == 1;
  psd.data = at + 2;
  return psd;
}

}  // namespace imgpipe
