// A small picture of an image, and the counts of its samples: made row by row, in little memory.
#pragma once

#include <string>

#include "app/report/histogram_file.h"
#include "images/codecs/codec.h"

namespace imgpipe {

struct Picture {
  Shape shape;      // of the image
  Shape small;      // of the picture, 8 bits a sample
  std::string png;  // the picture's file, as base64
  Counts counts;    // of the image's colour planes, plane after plane
};

// The whole image that the reader gives, in a picture of at most `most_side` pixels a side: each of its
// pixels is the mean of those that it covers. Throws Error(input), Error(memory).
[[nodiscard]] Picture picture_of(Reader& reader, int most_side = 320);

}  // namespace imgpipe
