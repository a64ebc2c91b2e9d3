// How many prefix codes libwebp will hold for a lossless picture: the picture's beginning says so (RFC 9649,
// sections 3.4 to 3.7).
#pragma once

#include <cstdint>
#include <optional>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

struct LosslessCodes {
  std::int64_t groups = 1;       // of five codes each, one for every kind of block
  std::int64_t named = 1;        // the groups' numbers are below this one
  std::int64_t block_count = 0;  // of all pictures within it: blocks' transforms, blocks' groups
  int cache_bits = 0;            // of the colour cache: 0 is none
};

// Reads `stream`, which begins with the transforms (behind the five bytes of VP8L's header, or the one of
// ALPH's), up to the codes of a picture of width x height. The pictures within it, at most one pixel for each
// block of 4x4, are decoded so far that their end is found; none is kept. Nothing where the stream is cut
// before, or is one that libwebp refuses before it makes the groups: what libwebp takes must be taken here,
// or too little memory is asked for.
[[nodiscard]] std::optional<LosslessCodes> read_lossless_codes(Bytes stream, std::int64_t width,
                                                               std::int64_t height);

}  // namespace imgpipe
