// Reads PNG as Pillow 13.0.0 does: the files that it accepts, with its pixels.
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Samples have 8 bits: of 16 bits the upper byte, except that grey above 255 becomes 255. Stored samples that
// the file lacks are 0. Throws like open_reader().
[[nodiscard]] std::unique_ptr<Reader> open_pillow_png(Bytes file, const DecodeOptions& options);

}  // namespace imgpipe
