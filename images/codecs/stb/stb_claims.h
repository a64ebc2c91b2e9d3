// The sizes that a file's header declares, read before stb_image sees the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/codec.h"

namespace imgpipe {

struct StbClaims {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int bits_per_sample = 8;
  std::int64_t bytes_per_pixel = 12;  // approximate peak memory of decoding
  std::int64_t raw_bytes = 0;         // pixel data before compression
  std::int64_t best_ratio = 1;        // maximum compression ratio of the format
  bool fillable = false;              // missing bytes can be replaced: uncompressed or run-length encoded
  std::byte filler{0};
  bool spurious_alpha = false;  // stb returns four channels whether or not there is transparency
};

[[nodiscard]] bool stb_reads(Format format);

// Reads the header of a format that stb_reads(), and checks it against the file's length: sizes, offsets,
// palettes and BMP's indices, every Huffman table of a JPEG. Decodes GIF and PSD files whole with the
// built-in readers. Throws Error(input), also for files that stb_image 2.27 is known to decode wrongly.
// options.lenient() accepts a truncated BMP or TGA.
[[nodiscard]] StbClaims read_stb_claims(std::span<const std::byte> bytes, Format format,
                                        const DecodeOptions& options);
// Returns the maximum number of bytes held while a file is opened and checked, like opening_bytes().
[[nodiscard]] std::int64_t stb_opening_bytes(std::span<const std::byte> bytes, Format format,
                                             const DecodeOptions& options);
[[nodiscard]] StbClaims read_stb_jpeg_claims(std::span<const std::byte> bytes);

}  // namespace imgpipe
