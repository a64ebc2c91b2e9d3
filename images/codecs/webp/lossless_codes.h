// Determines how many prefix codes libwebp will hold for a lossless image, from the image's beginning (RFC
// 9649, 3.4 to 3.7).
#pragma once

#include <cstdint>
#include <optional>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

struct LosslessCodes {
  std::int64_t groups = 1;       // of five codes each, one for every kind of block
  std::int64_t named = 1;        // all group numbers are below this
  std::int64_t block_count = 0;  // pixels of all embedded images: of transforms and of group numbers
  int cache_bits = 0;            // of the colour cache; 0: none
};

// Reads `stream` up to the codes of an image of width x height. The stream begins with the transforms, after
// VP8L's header of five bytes or ALPH's of one byte. Decodes embedded images, at most one pixel per block of
// 4x4, to find their end. Returns nullopt if the stream is truncated earlier, or if libwebp refuses it before
// it makes the groups. Must accept every stream that libwebp accepts, or too little memory is reserved.
[[nodiscard]] std::optional<LosslessCodes> read_lossless_codes(Bytes stream, std::int64_t width,
                                                               std::int64_t height);

}  // namespace imgpipe
