// WebP files: pictures by libwebp's own encoder, containers byte by byte (RFC 9649).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "images/image.h"
#include "tests/support/file_parts.h"

namespace imgpipe::test {

struct WebpKind {
  bool lossless = true;
  int effort = 1;          // of the lossless preset, 0..9, or the lossy method, 0..6
  int quality = 90;        // lossy
  bool raw_alpha = false;  // lossy: the alpha is not compressed
};

// A file as libwebp makes it. `pixels` are RGB or RGBA.
[[nodiscard]] Bytes make_webp(const WebpKind& kind, ConstHostPlane pixels);

// The same taken apart: ALPH, VP8 and VP8L chunks, without the RIFF header and VP8X.
[[nodiscard]] Bytes picture_chunks(const Bytes& file);

[[nodiscard]] Bytes riff_number(std::uint32_t value, int bytes);
[[nodiscard]] Bytes riff_chunk(std::string_view name, const Bytes& payload);
// "RIFF", its size, "WEBP".
[[nodiscard]] Bytes riff_file(const Bytes& chunks);

inline constexpr int kWebpAnimated = 0x02, kWebpExif = 0x08, kWebpAlpha = 0x10, kWebpProfile = 0x20;
[[nodiscard]] Bytes vp8x(int flags, std::int64_t width, std::int64_t height);
[[nodiscard]] Bytes anim();
// The place on the canvas is even.
[[nodiscard]] Bytes anmf(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                         const Bytes& picture);

// A lossless stream, from its transforms on, whose pixels are all opaque black: every block of 4x4 pixels
// names a group of prefix codes, in a row the numbers `first`, `first` + `step`, ... of less than `first` +
// `step` * `groups`, again and again. The colour cache has 2^`cache_bits` entries; none with 0.
struct GroupedStream {
  std::int64_t width = 256, height = 256;
  int first = 0, step = 1, groups = 4096;
  int cache_bits = 11;
  std::vector<unsigned> distances = {0};  // one or two, below 256, of the code for the blocks' numbers
};
[[nodiscard]] Bytes grouped_stream(const GroupedStream& form);
// Behind the header that VP8L begins with.
[[nodiscard]] Bytes lossless_chunk(std::int64_t width, std::int64_t height, const Bytes& stream);

// What WebPDecodeRGBA() makes of a file; empty where it fails.
[[nodiscard]] Image library_rgba(const Bytes& file);

}  // namespace imgpipe::test
