// The chunks of a PNG in memory (PNG specification, 3rd edition, clause 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

inline constexpr std::size_t kPngSignatureBytes = 8;
inline constexpr std::size_t kPngChunkOverhead = 12;  // length, type, CRC
// The keyword of the iTXt chunk with XMP, including its NUL.
inline constexpr std::string_view kPngXmpKeyword("XML:com.adobe.xmp\0", 18);

struct PngChunk {
  std::size_t start = 0;   // offset of its length field
  std::size_t length = 0;  // of its data

  [[nodiscard]] std::size_t end() const;
  [[nodiscard]] std::span<const std::byte> data(std::span<const std::byte> file) const;
};

// Returns the chunk at `start` if all of it is present.
[[nodiscard]] std::optional<PngChunk> png_chunk_at(std::span<const std::byte> file, std::size_t start);
// `type`: four letters.
[[nodiscard]] bool is_png_type(std::span<const std::byte> file, const PngChunk& chunk, const void* type);
[[nodiscard]] bool has_valid_crc(std::span<const std::byte> file, const PngChunk& chunk);

// The spans point into the file.
struct PngFacts {
  std::span<const std::byte> exif;                    // of the first eXIf chunk, at any position
  std::span<const std::byte> xmp;                     // of the first iTXt chunk with XMP
  std::optional<std::span<const std::byte>> profile;  // of iCCP before the pixels, compressed (zlib)
  bool animated = false;                              // APNG with frames
  std::int64_t images = 1;                            // frames, and this image if it is not a frame
  std::size_t end = 0;                                // just past IEND; 0: none
};

// Walks the chunks from the signature to IEND, or to where the file is truncated, in linear time.
[[nodiscard]] PngFacts read_png_facts(std::span<const std::byte> file);

// Returns what is wrong with the compressed pixels, or "". Checks as far as libpng does: to the end of the
// IDAT chunk that contains the last of `raw_bytes`, including the Adler-32 if it is there.
[[nodiscard]] std::string png_stream_error(std::span<const std::byte> file, std::int64_t raw_bytes);

// Names the profile of an iCCP chunk as profile_name() does, decompressed within bounds.
[[nodiscard]] std::string compressed_profile_name(std::span<const std::byte> zlib_stream);

}  // namespace imgpipe
