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
// Of the iTXt chunk that holds XMP, with its NUL.
inline constexpr std::string_view kPngXmpKeyword("XML:com.adobe.xmp\0", 18);

struct PngChunk {
  std::size_t start = 0;   // of its length field
  std::size_t length = 0;  // of its data

  [[nodiscard]] std::size_t end() const;
  [[nodiscard]] std::span<const std::byte> data(std::span<const std::byte> file) const;
};

// The chunk at `start`, if all of it is there.
[[nodiscard]] std::optional<PngChunk> png_chunk_at(std::span<const std::byte> file, std::size_t start);
// `type`: four letters.
[[nodiscard]] bool is_png_type(std::span<const std::byte> file, const PngChunk& chunk, const void* type);
[[nodiscard]] bool has_right_crc(std::span<const std::byte> file, const PngChunk& chunk);

// The spans are of the file.
struct PngFacts {
  std::span<const std::byte> exif;                    // of the first eXIf chunk, wherever it stands
  std::span<const std::byte> xmp;                     // of the first iTXt chunk with XMP
  std::optional<std::span<const std::byte>> profile;  // of iCCP before the pixels, compressed (zlib)
  bool animated = false;                              // APNG: there are frames
  std::int64_t images = 1;                            // they, and this picture where it is none of them
  std::size_t end = 0;                                // behind IEND; 0: there is none
};

// Walks the chunks from the signature to IEND, or to where the file breaks off, in time that grows with its
// length.
[[nodiscard]] PngFacts read_png_facts(std::span<const std::byte> file);

// What is wrong with the compressed pixels as far as libpng looks at them, which is to the end of the IDAT
// chunk in which the last of `raw_bytes` lies: their Adler-32, if it is there; "" when nothing is.
[[nodiscard]] std::string png_stream_fault(std::span<const std::byte> file, std::int64_t raw_bytes);

// Names the profile of an iCCP chunk as profile_name() does, decompressed within bounds.
[[nodiscard]] std::string compressed_profile_name(std::span<const std::byte> zlib_stream);

}  // namespace imgpipe
