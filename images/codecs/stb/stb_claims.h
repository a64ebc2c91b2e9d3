// What a file claims of itself, read before stb_image sees it.
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
  std::int64_t bytes_per_pixel = 12;  // that decoding takes at its peak, about
  std::int64_t raw_bytes = 0;         // of pixel data before compression
  std::int64_t best_ratio = 1;        // that this format's compression can reach
  bool fillable = false;              // missing bytes can be stood in for: uncompressed or byte-wise packed
  std::byte filler{0};
  bool spurious_alpha = false;  // it gives four channels whether there is any transparency or not
};

// Whether stb_image has anything to say of a format.
[[nodiscard]] bool stb_reads(Format format);

// Reads the header fields of `format`, which it reads, and checks them against the length of the file: sizes,
// offsets, palette lengths, palette indices of BMP, every Huffman table of a JPEG; GIF and PSD files are
// decoded whole by our own readers. Throws Error(input), also for what stb_image 2.27 is known to get wrong;
// options.lenient lets a BMP or TGA pass that is only too short.
[[nodiscard]] StbClaims read_stb_claims(std::span<const std::byte> bytes, Format format,
                                        const DecodeOptions& options);
// The most that it holds while a file is opened, with its judgement; as opening_bytes().
[[nodiscard]] std::int64_t stb_opening_bytes(std::span<const std::byte> bytes, Format format,
                                             const DecodeOptions& options);
// Its part for JPEG.
[[nodiscard]] StbClaims read_stb_jpeg_claims(std::span<const std::byte> bytes);

}  // namespace imgpipe
