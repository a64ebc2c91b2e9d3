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
  bool scan_each = false;  // one component a scan
  int orientation = 1;     // in an Exif segment, but for 1
  int restart_rows = 0;
  bool adobe = true;  // with the marker that says how CMYK is stored
  int quality = 75;
};

// How many channels the pixels have that a kind is made of.
[[nodiscard]] int channels_of(const JpegKind& kind);
[[nodiscard]] std::vector<std::byte> make_jpeg(const JpegKind& kind, ConstHostPlane pixels);

}  // namespace imgpipe::test
