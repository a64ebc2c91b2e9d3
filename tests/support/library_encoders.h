// AVIF, HEIC and JPEG XL files by the encoders of the libraries that read them.
#pragma once

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/file_parts.h"

namespace imgpipe::test {

struct LibraryCoding {
  int bits = 8;
  bool lossless = true;      // HEIC is always coded as YCbCr
  int quarter_turns = 0;     // AVIF: irot, counterclockwise
  int mirror = -1;           // AVIF: imir; -1: none
  int orientation = 1;       // JPEG XL: as in EXIF
  bool packed_boxes = true;  // JPEG XL: EXIF and XMP compressed
  Bytes exif{}, xmp{}, icc{};
};

// Returns an empty file if the build lacks the format or its encoder. `pixels` have 1 to 4 channels, as u8,
// or u16 with values of `bits` bits.
[[nodiscard]] Bytes encode_by_library(Format format, ConstHostView pixels, const LibraryCoding& coding = {});

// The formats that encode_by_library() supports in this build.
[[nodiscard]] std::vector<Format> library_formats();

}  // namespace imgpipe::test
