// The list of an animated PNG's frames.
#pragma once

#include "images/codecs/animation.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Lists the default image, if it is not a frame, and the frames; empty without an acTL chunk. The pixels of
// frames may be missing from `file`.
[[nodiscard]] FrameList png_frames(Bytes file);

}  // namespace imgpipe
