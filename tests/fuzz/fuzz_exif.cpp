// Reads any bytes as the TIFF structure of EXIF.
#include <span>

#include "images/codecs/exif.h"
#include "tests/fuzz/fuzz_target.h"

IMGPIPE_FUZZ_TARGET(fuzz_exif) {
  const int orientation = static_cast<int>(imgpipe::exif_orientation(std::as_bytes(std::span(data, size))));
  if (orientation < 1 || orientation > 8) __builtin_trap();
  return 0;
}
