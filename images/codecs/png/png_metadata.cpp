// Metadata in a PNG's chunks (PNG specification, 3rd edition, clause 11.3; XMP Specification Part 3): iCCP,
// eXIf, pHYs, iTXt with the keyword XML:com.adobe.xmp, and texts (png_texts.h).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_texts.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

// Returns the profile in an iCCP chunk: name, zero byte, method 0, stream. Returns one byte for a damaged
// chunk; this is not a valid profile, so the damage is reported.
std::vector<std::byte> profile_of(Bytes data) {
  const std::size_t method = after_png_string(data, 0);
  std::optional<std::vector<std::byte>> profile;
  if (method + 1 < data.size() && data[method] == std::byte{0})
    profile = inflated_png_data(data.subspan(method + 1), kMaxProfileBytes);
  return profile && !profile->empty() ? std::move(*profile) : std::vector{std::byte{0}};
}

std::optional<Resolution> resolution_of(Bytes data) {
  const std::uint32_t x = big_endian(data, 0, 4), y = big_endian(data, 4, 4), unit = big_endian(data, 8, 1);
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (data.size() != 9 || x == 0 || y == 0 || x > kMost || y > kMost || unit > 1) return std::nullopt;
  if (unit == 0) return Resolution{.x = x, .y = y};
  return Resolution{.x = x, .x_of = 100, .y = y, .y_of = 100, .unit = Resolution::Unit::centimetre};
}

std::vector<std::byte> resolution_data(const Resolution& resolution) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<std::byte> data;
  const std::optional<Resolution::Whole> whole = resolution.per_metre(kMost);
  const bool ratio = resolution.unit == Resolution::Unit::none && resolution.x_of == 1 &&
                     resolution.y_of == 1 && resolution.x <= kMost && resolution.y <= kMost;
  if (!whole && !ratio) return data;
  append_big_endian(data, whole ? whole->x : resolution.x, 4);
  append_big_endian(data, whole ? whole->y : resolution.y, 4);
  data.push_back(static_cast<std::byte>(whole ? 1 : 0));
  return data;
}

// Returns the name of a chunk that is not read but describes the image; empty for others.
std::string unread_chunk(std::string_view type) {
  // Not reported: critical chunks; frames, which the reader counts; colours; display hints; the time of the
  // last change; hints for the writing program alone.
  constexpr std::array kSilent{"IHDR"sv, "PLTE"sv, "tRNS"sv, "acTL"sv, "fcTL"sv, "fdAT"sv,
                               "sRGB"sv, "gAMA"sv, "cHRM"sv, "bKGD"sv, "hIST"sv, "sBIT"sv,
                               "sPLT"sv, "tIME"sv, "iDOT"sv, "vpAg"sv};
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  if (type == "caBX"sv) return "JUMBF (C2PA)";
  if (!std::ranges::all_of(type, is_letter) || std::ranges::find(kSilent, type) != kSilent.end()) return "";
  return std::string(type) + " chunk";
}

// Reports gAMA and cHRM as lost if they apply and differ from those of sRGB (clauses 4.3, 11.3.2.1 and
// 11.3.2.2).
class ColorChunks {
 public:
  void take(std::string_view type, Bytes data) {
    constexpr std::array kGamma{45'455U};
    constexpr std::array kPrimaries{31'270U, 32'900U, 64'000U, 33'000U, 30'000U, 60'000U, 15'000U, 6'000U};
    is_named_ = is_named_ || type == "sRGB"sv || type == "iCCP"sv || type == "cICP"sv;
    if (type == "gAMA"sv) other_gamma_ = !is_near(data, kGamma);
    if (type == "cHRM"sv) other_primaries_ = !is_near(data, kPrimaries);
  }
  void name(FoundMetadata& found) const {
    if (other_gamma_ && !is_named_) found.lose("gAMA chunk");
    if (other_primaries_ && !is_named_) found.lose("cHRM chunk");
  }

 private:
  static bool is_near(Bytes data, std::span<const std::uint32_t> values) {
    constexpr std::int64_t kNear = 1000;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::abs(std::int64_t{big_endian(data, 4 * i, 4)} - std::int64_t{values[i]}) > kNear) return false;
    return true;
  }

  bool is_named_ = false, other_gamma_ = false, other_primaries_ = false;
};

}  // namespace

FoundMetadata find_png_metadata(std::span<const std::byte> file) {
  FoundMetadata found;
  ColorChunks colors;
  bool pixels_begun = false;
  std::size_t texts = 0;
  for (std::optional<PngChunk> chunk = png_chunk_at(file, 8); chunk;
       chunk = png_chunk_at(file, chunk->end())) {
    const std::string_view type(reinterpret_cast<const char*>(file.data()) + chunk->start + 4, 4);
    const Bytes data = chunk->data(file);
    if (type == "IEND"sv) break;
    pixels_begun = pixels_begun || type == "IDAT"sv;
    if (type == "IDAT"sv) continue;
    const bool right = has_valid_crc(file, *chunk);
    if (is_png_text(type)) {
      if (++texts > kMaxTexts) found.lose("texts after the first " + std::to_string(kMaxTexts));
      if (texts <= kMaxTexts) read_png_text(data, type, right, found);
    } else if (type == "eXIf"sv) {
      if (!right) found.lose("EXIF (damaged)");
      if (right && found.exif.empty()) found.exif = data;
    } else if (type == "iCCP"sv) {
      if (!pixels_begun && found.icc.empty())
        found.icc = right ? profile_of(data) : std::vector{std::byte{0}};
    } else if (type == "pHYs"sv) {
      if (!pixels_begun && right && !found.resolution) found.resolution = resolution_of(data);
    } else if (std::string name = unread_chunk(type); right && !name.empty()) {
      found.lose(std::move(name));
    }
    if (right && !pixels_begun) colors.take(type, data);
  }
  colors.name(found);
  return found;
}

void add_png_metadata(std::vector<std::byte>& file, const Metadata& metadata) {
  constexpr std::size_t kPngHead = 33;  // signature and IHDR
  insert_bytes(file, kPngHead, png_metadata_chunks(metadata));
}

std::vector<std::byte> png_metadata_chunks(const Metadata& metadata) {
  std::vector<std::byte> out;
  if (!metadata.icc.empty()) append_compressed_png_chunk(out, "iCCP", "ICC profile\0\0"sv, metadata.icc);
  if (metadata.resolution) {
    const std::vector<std::byte> data = resolution_data(*metadata.resolution);
    if (!data.empty()) append_png_chunk(out, "pHYs", data);
  }
  if (!metadata.exif.empty()) append_png_chunk(out, "eXIf", metadata.exif);
  append_png_texts(out, metadata);
  return out;
}

}  // namespace imgpipe
