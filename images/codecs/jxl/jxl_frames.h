// The headers of a JPEG XL image's frames (ISO/IEC 18181-1, annexes C and E), read before libjxl allocates
// them: libjxl 0.7 ends the process if it lacks memory, and a frame may be larger than the image.
#pragma once

#include <cstdint>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

// The properties of an image on which its frame headers depend.
struct JxlImageHeader {
  std::int64_t width = 0, height = 0;  // as stored
  std::int64_t extra_channels = 0;     // alpha and others
  bool is_xyb = false;
  bool has_animation = false, has_timecodes = false;
  std::int64_t preview_width = 0, preview_height = 0;  // 0: no preview
};

// The frames up to the first one that is displayed.
struct JxlFrames {
  std::int64_t pixels = 0;  // of all of them
  bool more_follow = false;
};

// `frames`: the codestream after its
// headers. Throws Error(input) if a frame is larger than `options` allow, if the frames have over eight times
// the image's pixels, or if a header cannot be read.
[[nodiscard]] JxlFrames read_jxl_frames(Bytes frames, const JxlImageHeader& image,
                                        const DecodeOptions& options);

}  // namespace imgpipe
