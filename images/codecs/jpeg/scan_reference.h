// A reference encoder of one baseline scan. Faster encoders are compared with it. libjpeg-turbo is also
// compared with it, once, before a device replaces the library.
#pragma once

#include <cstddef>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

// Returns the entropy-coded data, stuffed and without markers, of a grey plane or interleaved RGB of 1 to
// 65,500 pixels a side: the bytes that libjpeg-turbo writes (islow DCT, standard tables, quality 1..100).
// `subsampled_chroma`: 4:2:0, else 4:4:4.
[[nodiscard]] std::vector<std::byte> encode_scan_reference(ConstHostPlane pixels, int quality,
                                                           bool subsampled_chroma);

}  // namespace imgpipe
