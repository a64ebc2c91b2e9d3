// The container of WebP (RFC 9649): which chunks a file has and what they say, before libwebp sees any
// of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

// The first image of a file.
struct WebpPicture {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  // on the canvas, which it lies within
  bool lossless = false;
  bool has_alpha = false;     // lossless: the hint in its header; lossy: there is an ALPH chunk
  bool packed_alpha = false;  // of a lossy one: compressed as a lossless image
  Bytes codes;                // the lossless codes, of image or alpha, after their header; empty: none
  Bytes data;  // from its ALPH or VP8 chunk on, as WebPDecode() takes it; cut where the file is
};

struct WebpContents {
  std::int64_t width = 0, height = 0;  // of the canvas
  WebpPicture picture;
  bool more_pictures = false;  // an animation's further frames
  Bytes exif, profile;         // empty: none
  // Damage that leaves the header of the first image readable: the file is cut short, or a chunk after the
  // image is broken.
  std::vector<std::string> faults;
  std::string following;  // of bytes after the image; empty: none

  [[nodiscard]] bool picture_covers() const { return picture.width == width && picture.height == height; }
};

// Walks the chunks, and reads no byte beyond the file. Sizes are within what the format can say, 2^24 a
// side and 2^32 - 1 pixels of an animation, 16,384 a side of an image; none is 0. Throws Error(input)
// if there is no image to decode: a chunk out of place, sizes that contradict each other, a header
// cut short.
[[nodiscard]] WebpContents read_webp_contents(Bytes file);

// Width and height by the first 30 bytes; 0 where they do not say.
struct WebpSize {
  std::int64_t width = 0, height = 0;
};
[[nodiscard]] WebpSize webp_size(Bytes beginning);

}  // namespace imgpipe
