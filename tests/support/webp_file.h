// WebP files: images by libwebp's own encoder, containers byte by byte (RFC 9649).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "images/image.h"
#include "tests/support/file_parts.h"

namespace imgpipe::test {

struct WebpKind {
  bool lossless = true;
  int effort = 1;          // the lossless preset, 0..9, or the lossy method, 0..6
  int quality = 90;        // lossy
  bool raw_alpha = false;  // lossy: the alpha is not compressed
};

// Encodes a file with libwebp. `pixels` are RGB or RGBA.
[[nodiscard]] Bytes make_webp(const WebpKind& kind, ConstHostPlane pixels);

// Returns a file's ALPH, VP8 and VP8L chunks, without the RIFF header and VP8X.
[[nodiscard]] Bytes picture_chunks(const Bytes& file);

[[nodiscard]] Bytes riff_number(std::uint32_t value, int bytes);
[[nodiscard]] Bytes riff_chunk(std::string_view name, const Bytes& payload);
// "RIFF", its size, "WEBP".
[[nodiscard]] Bytes riff_file(const Bytes& chunks);

inline constexpr int kWebpAnimated = 0x02, kWebpExif = 0x08, kWebpAlpha = 0x10, kWebpProfile = 0x20;
[[nodiscard]] Bytes vp8x(int flags, std::int64_t width, std::int64_t height);
[[nodiscard]] Bytes anim();
// Offsets on the canvas are even.
[[nodiscard]] Bytes anmf(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                         const Bytes& picture);

// A lossless stream, from its transforms on, whose pixels are all opaque black. Every block of 4x4 pixels
// refers to a group of prefix codes; these are numbered `first`, `first` + `step`, ... up to `first` + `step`
// * `groups`, repeatedly. The colour cache has 2^`cache_bits` entries; 0: no cache.
struct GroupedStream {
  std::int64_t width = 256, height = 256;
  int first = 0, step = 1, groups = 4096;
  int cache_bits = 11;
  std::vector<unsigned> distances = {
      0};  // one or two symbols below 256, for the distance code of the image of group numbers
};
[[nodiscard]] Bytes grouped_stream(const GroupedStream& form);
// Prepends the header of VP8L.
[[nodiscard]] Bytes lossless_chunk(std::int64_t width, std::int64_t height, const Bytes& stream);

// Returns the result of WebPDecodeRGBA(); empty if it fails.
[[nodiscard]] Image library_rgba(const Bytes& file);

}  // namespace imgpipe::test
