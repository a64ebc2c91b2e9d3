// What a PNG's chunks say beside the picture (PNG specification, 3rd edition, clause 11.3; XMP Specification
// Part 3): iCCP, eXIf, pHYs, and iTXt of the keyword XML:com.adobe.xmp.
#include <algorithm>
#include <limits>
#include <string_view>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kXmp = "XML:com.adobe.xmp\0"sv;

// A whole zlib stream of at most `most` bytes; nullopt where it is damaged, cut or longer.
std::optional<std::vector<std::byte>> inflated(Bytes stream, std::size_t most) {
  constexpr std::size_t kStepBytes = std::size_t{64} << 10;
  std::vector<std::byte> out;
  try {
    ZlibInflater inflater;
    std::size_t made = 1;
    while (made > 0 && out.size() <= most) {
      const std::size_t before = out.size();
      out.resize(before + kStepBytes);
      made = inflater.inflate(stream, std::span(out).subspan(before));
      out.resize(before + made);
    }
    if (out.size() > most || !inflater.finished()) return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return std::nullopt;
  }
  return out;
}

std::size_t after_zero(Bytes data, std::size_t from) {
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(std::min(from, data.size()));
  const auto zero = std::find(begin, data.end(), std::byte{0});
  return zero == data.end() ? data.size() : static_cast<std::size_t>(zero - data.begin()) + 1;
}

// Name, zero, method 0, stream. A byte that is no profile where there is none to be had, so that it is told.
std::vector<std::byte> profile_of(Bytes data) {
  const std::size_t method = after_zero(data, 0);
  std::optional<std::vector<std::byte>> profile;
  if (method + 1 < data.size() && data[method] == std::byte{0})
    profile = inflated(data.subspan(method + 1), kMostProfileBytes);
  return profile && !profile->empty() ? std::move(*profile) : std::vector{std::byte{0}};
}

// Behind the keyword: whether compressed, method, language, translated keyword, text.
void take_xmp(Bytes data, FoundMetadata& found) {
  const std::size_t text = after_zero(data, after_zero(data, kXmp.size() + 2));
  const std::uint32_t compressed = big_endian(data, kXmp.size(), 1),
                      method = big_endian(data, kXmp.size() + 1, 1);
  std::optional<std::vector<std::byte>> packet;
  const Bytes rest = data.subspan(text);
  if (compressed == 0 && rest.size() <= kMostXmpBytes) packet.emplace(rest.begin(), rest.end());
  if (compressed == 1 && method == 0) packet = inflated(rest, kMostXmpBytes);
  if (packet && !packet->empty()) {
    found.xmp = std::move(*packet);
  } else {
    found.lost.emplace_back("XMP (damaged or too long)");
  }
}

std::optional<Resolution> resolution_of(Bytes data) {
  const std::uint32_t x = big_endian(data, 0, 4), y = big_endian(data, 4, 4), unit = big_endian(data, 8, 1);
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (data.size() != 9 || x == 0 || y == 0 || x > kMost || y > kMost || unit > 1) return std::nullopt;
  if (unit == 0) return Resolution{.x = x, .y = y};
  return Resolution{.x = x, .x_of = 100, .y = y, .y_of = 100, .unit = Resolution::Unit::centimetre};
}

void append_chunk(std::vector<std::byte>& out, std::string_view type, Bytes data) {
  append_big_endian(out, data.size(), 4);
  const std::size_t start = out.size();
  append_text(out, type);
  out.insert(out.end(), data.begin(), data.end());
  append_big_endian(out, crc32_of(Bytes(out).subspan(start)), 4);
}

std::vector<std::byte> profile_data(Bytes profile) {
  constexpr int kLevel = 6;
  std::vector<std::byte> data;
  append_text(data, "ICC profile\0\0"sv);
  const std::vector<std::byte> head = zlib_header(kLevel);
  data.insert(data.end(), head.begin(), head.end());
  StripDeflater deflater(kLevel);
  const Bytes packed = deflater.compress(profile, true);
  data.insert(data.end(), packed.begin(), packed.end());
  append_big_endian(data, adler32_of(profile), 4);
  return data;
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

}  // namespace

FoundMetadata find_png_metadata(std::span<const std::byte> file) {
  FoundMetadata found;
  bool pixels_begun = false;
  for (std::optional<PngChunk> chunk = png_chunk_at(file, 8); chunk;
       chunk = png_chunk_at(file, chunk->end())) {
    const auto is = [&](const char* type) { return is_png_type(file, *chunk, type); };
    const Bytes data = chunk->data(file);
    if (is("IEND")) break;
    pixels_begun = pixels_begun || is("IDAT");
    const bool text = is("iTXt") && found.xmp.empty() && stands_at(data, 0, kXmp);
    const bool exif = is("eXIf") && found.exif.empty();
    const bool profile = is("iCCP") && !pixels_begun && found.icc.empty();
    const bool resolution = is("pHYs") && !pixels_begun && !found.resolution;
    if (!text && !exif && !profile && !resolution) continue;
    const bool right = has_right_crc(file, *chunk);
    if (text && right) take_xmp(data, found);
    if (exif && right) found.exif = data;
    if (profile) found.icc = right ? profile_of(data) : std::vector{std::byte{0}};
    if (resolution && right) found.resolution = resolution_of(data);
    if (!right && (text || exif)) found.lost.emplace_back(text ? "XMP (damaged)" : "EXIF (damaged)");
  }
  return found;
}

void add_png_metadata(std::vector<std::byte>& file, const Metadata& metadata) {
  constexpr std::size_t kPngHead = 33;  // signature and IHDR
  insert_bytes(file, kPngHead, png_metadata_chunks(metadata));
}

std::vector<std::byte> png_metadata_chunks(const Metadata& metadata) {
  std::vector<std::byte> out;
  if (!metadata.icc.empty()) append_chunk(out, "iCCP", profile_data(metadata.icc));
  if (metadata.resolution) {
    const std::vector<std::byte> data = resolution_data(*metadata.resolution);
    if (!data.empty()) append_chunk(out, "pHYs", data);
  }
  if (!metadata.exif.empty()) append_chunk(out, "eXIf", metadata.exif);
  if (!metadata.xmp.empty()) {
    std::vector<std::byte> data;
    append_text(data, kXmp);
    append_text(data, "\0\0\0\0"sv);  // not compressed; no language, no translated keyword
    data.insert(data.end(), metadata.xmp.begin(), metadata.xmp.end());
    append_chunk(out, "iTXt", data);
  }
  return out;
}

}  // namespace imgpipe
