// A reduced picture of an image and the counts of its samples, computed in bands of rows to save memory.
#pragma once

#include <string>

#include "app/report/histogram_file.h"
#include "images/codecs/codec.h"

namespace imgpipe {

struct Picture {
  Shape shape;      // of the image
  Shape small;      // of the picture, 8 bits per sample
  std::string png;  // PNG file as base64
  Counts counts;    // of the image's colour planes, one after the other
};

// Reduces the reader's whole image to at most `max_side` pixels a side. Each pixel is the mean of the pixels
// it covers. Throws Error(input), Error(memory).
[[nodiscard]] Picture make_picture(Reader& reader, int max_side = 320);

}  // namespace imgpipe
