// Describes how a PNG is stored, from its chunks (PNG specification, 3rd edition, clause 11.2.1).
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_frames.h"
#include "images/codecs/sniff.h"
#include "images/files/partial_file.h"

namespace imgpipe {
namespace {

constexpr const char* kAdam7 = "interlaced (Adam7)";

using Code = std::pair<std::uint32_t, std::string_view>;

std::string name_of(std::uint32_t code, std::span<const Code> names, const char* what) {
  const auto found = std::ranges::find(names, code, &Code::first);
  return found == names.end() ? what + (" " + std::to_string(code)) : std::string(found->second);
}

// Names the primaries and transfer codes of ITU-T H.273 that images use; then lists all four stored codes.
std::string cicp_text(Bytes data) {
  constexpr std::array<Code, 4> kPrimaries{{{1, "BT.709 primaries"},
                                            {9, "BT.2020 primaries"},
                                            {11, "DCI-P3 primaries"},
                                            {12, "Display P3 primaries"}}};
  constexpr std::array<Code, 5> kTransfers{
      {{1, "BT.709 transfer"}, {8, "linear"}, {13, "sRGB transfer"}, {16, "PQ"}, {18, "HLG"}}};
  std::string text = name_of(big_endian(data, 0, 1), kPrimaries, "primaries") + ", " +
                     name_of(big_endian(data, 1, 1), kTransfers, "transfer") + " (cICP";
  for (std::size_t i = 0; i < 4; ++i) text += (i == 0 ? " " : ", ") + std::to_string(big_endian(data, i, 1));
  return text + ")";
}

// Formats a number that is stored times 100,000: "0.45455".
std::string gamma_text(std::uint32_t stored) {
  std::string digits = std::to_string(stored);
  digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, '0');
  digits.insert(digits.size() - 5, ".");
  digits.resize(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return "gamma " + digits;
}

// Uses the first of cICP, iCCP, sRGB and gAMA (clause 4.3); iCCP is reported as a profile.
std::string color_space_of(Bytes file) {
  const auto data_of = [&](const char* type) {
    for (auto chunk = png_chunk_at(file, kPngSignatureBytes); chunk && !is_png_type(file, *chunk, "IDAT");
         chunk = png_chunk_at(file, chunk->end()))
      if (is_png_type(file, *chunk, type) && has_valid_crc(file, *chunk)) return chunk->data(file);
    return Bytes();
  };
  if (const Bytes cicp = data_of("cICP"); cicp.size() == 4) return cicp_text(cicp);
  if (!data_of("iCCP").empty()) return "";
  if (data_of("sRGB").size() == 1) return "sRGB";
  const Bytes gamma = data_of("gAMA");
  const std::uint32_t stored = gamma.size() == 4 ? big_endian(gamma, 0, 4) : 0;
  std::string text = stored > 0 ? gamma_text(stored) : "";
  if (data_of("cHRM").size() == 32)
    text += (text.empty() ? "" : ", ") + std::string("custom primaries (cHRM)");
  return text;
}

}  // namespace

FileDetails describe_png(Bytes file) {
  FileDetails details{.compression = "deflate", .decoder = "libpng"};
  const std::uint32_t depth = big_endian(file, 24, 1);
  switch (big_endian(file, 25, 1)) {
    case 0:
      details.color = depth == 1 ? "bilevel" : "grey";
      break;
    case 4:
      details.color = "grey";
      break;
    case 3:
      details.color = "palette";
      details.layout = bits_per_pixel_text(static_cast<int>(depth));
      break;
    default:
      details.color = "RGB";
  }
  constexpr std::array<int, 7> kChannels{1, 0, 3, 1, 2, 0, 4};
  details.channels = kChannels[std::min<std::size_t>(big_endian(file, 25, 1), kChannels.size() - 1)];
  if (big_endian(file, 28, 1) == 1)
    details.layout += (details.layout.empty() ? "" : ", ") + std::string(kAdam7);
  details.color_space = color_space_of(file);
  const PngFacts facts = read_png_facts(file);
  details.images = facts.images;
  if (facts.animated) details.variant = "animated (APNG)";
  if (facts.images > 1) details.frames = png_frames(file).frames;
  return details;
}

// Skips the data of fdAT chunks, and of IDAT chunks after IHDR. Before it, Pillow checks them as unknown
// chunks.
void load_png_chunks(PartialFile& front) {
  const Bytes file = front.bytes();
  front.load(0, kPngSignatureBytes);
  bool has_header = false;
  for (std::size_t at = kPngSignatureBytes; at < file.size();) {
    front.load(at, kPngChunkOverhead + 4);  // and the number of an fdAT chunk
    const auto chunk = png_chunk_at(file, at);
    if (!chunk) {
      front.load(at, std::size_t{64} << 10);  // the file is truncated here
      return;
    }
    const bool has_pixels =
        is_png_type(file, *chunk, "fdAT") || (has_header && is_png_type(file, *chunk, "IDAT"));
    if (!has_pixels) front.load(at, chunk->end() - at);
    has_header = has_header || is_png_type(file, *chunk, "IHDR");
    at = chunk->end();
    if (is_png_type(file, *chunk, "IEND")) return;
  }
}

}  // namespace imgpipe
