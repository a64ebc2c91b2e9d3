#include "images/codecs/png/png_chunks.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "images/codecs/icc.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

// Returns the compressed profile in an iCCP chunk. It follows a name of up to 79 bytes (usually "ICC
// profile"), a zero byte and the method 0.
Bytes compressed_profile(Bytes data) {
  const auto zero = std::ranges::find(data, std::byte{0});
  const auto name_bytes = static_cast<std::size_t>(zero - data.begin());
  return name_bytes + 2 <= data.size() ? data.subspan(name_bytes + 2) : Bytes{};
}

}  // namespace

std::size_t PngChunk::end() const {
  return start + length + kPngChunkOverhead;
}

std::span<const std::byte> PngChunk::data(std::span<const std::byte> file) const {
  return file.subspan(start + 8, length);
}

std::optional<PngChunk> png_chunk_at(std::span<const std::byte> file, std::size_t start) {
  if (start > file.size() || file.size() - start < kPngChunkOverhead) return std::nullopt;
  const PngChunk chunk{start, big_endian(file, start, 4)};
  if (chunk.length > file.size() - start - kPngChunkOverhead) return std::nullopt;
  return chunk;
}

bool is_png_type(std::span<const std::byte> file, const PngChunk& chunk, const void* type) {
  return std::memcmp(file.data() + chunk.start + 4, type, 4) == 0;
}

bool has_valid_crc(std::span<const std::byte> file, const PngChunk& chunk) {
  return crc32_of(file.subspan(chunk.start + 4, chunk.length + 4)) == big_endian(file, chunk.end() - 4, 4);
}

PngFacts read_png_facts(std::span<const std::byte> file) {
  PngFacts facts;
  std::uint32_t frames = 0;
  bool pixels_begun = false;
  bool picture_is_frame = false;  // fcTL before the pixels: these are the first frame
  std::optional<PngChunk> chunk = png_chunk_at(file, kPngSignatureBytes);
  for (; chunk; chunk = png_chunk_at(file, chunk->end())) {
    const auto is = [&](const char* type) { return is_png_type(file, *chunk, type); };
    if (is("IDAT")) pixels_begun = true;
    if (is("eXIf") && facts.exif.empty() && has_valid_crc(file, *chunk)) facts.exif = chunk->data(file);
    if (is("iTXt") && facts.xmp.empty() && matches_at(chunk->data(file), 0, kPngXmpKeyword) &&
        has_valid_crc(file, *chunk))
      facts.xmp = chunk->data(file);
    if (is("acTL") && !pixels_begun) frames = big_endian(chunk->data(file), 0, 4);
    if (is("fcTL") && !pixels_begun) picture_is_frame = true;
    if (is("iCCP") && !pixels_begun && !facts.profile) facts.profile = compressed_profile(chunk->data(file));
    if (!is("IEND")) continue;
    facts.end = chunk->end();
    break;
  }
  facts.animated = frames > 0;
  if (facts.animated) facts.images = std::int64_t{frames} + (picture_is_frame ? 0 : 1);
  return facts;
}

std::string png_stream_error(std::span<const std::byte> file, std::int64_t raw_bytes) {
  std::vector<std::byte> inflated(std::size_t{64} << 10);
  std::int64_t left = raw_bytes;
  try {
    ZlibInflater inflater;
    std::optional<PngChunk> chunk = png_chunk_at(file, kPngSignatureBytes);
    for (; chunk && left > 0; chunk = png_chunk_at(file, chunk->end())) {
      if (!is_png_type(file, *chunk, "IDAT")) continue;
      Bytes data = chunk->data(file);
      std::size_t made = 1;
      while (left >= 0 && made > 0) {
        made = inflater.inflate(data, inflated);
        left -= static_cast<std::int64_t>(made);
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string compressed_profile_name(std::span<const std::byte> zlib_stream) {
  constexpr std::size_t kStepBytes = std::size_t{64} << 10;
  std::vector<std::byte> profile;
  try {
    ZlibInflater inflater;
    std::size_t made = 1;
    while (made > 0 && profile.size() < kMaxProfileBytes) {
      const std::size_t before = profile.size();
      profile.resize(before + kStepBytes);
      made = inflater.inflate(zlib_stream, std::span(profile).subspan(before));
      profile.resize(before + made);
    }
  } catch (const Error&) {
    // The name may lie in the damaged part.
    profile.clear();
  }
  return profile_name(profile);
}

}  // namespace imgpipe
