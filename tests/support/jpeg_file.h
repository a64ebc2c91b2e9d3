// JPEGs of every kind, made by libjpeg itself.
#pragma once

#include <cstddef>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include "images/plane.h"

namespace imgpipe::test {

struct JpegKind {
  J_COLOR_SPACE in = JCS_RGB, stored = JCS_YCbCr;
  int h = 1, v = 1;  // subsampling of chroma
  bool progressive = false;
  bool scan_each = false;  // one component per scan
  int orientation = 1;     // in an Exif segment, unless 1
  int restart_rows = 0;
  bool adobe = true;  // with the marker that specifies how CMYK is stored
  int quality = 75;
};

// Returns the number of channels of the pixels from which a kind is made.
[[nodiscard]] int channels_of(const JpegKind& kind);
[[nodiscard]] std::vector<std::byte> make_jpeg(const JpegKind& kind, ConstHostPlane pixels);

}  // namespace imgpipe::test
