// Checks that the installed libjpeg-turbo makes the same pixels as the built-in decoder.
#pragma once

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// Decodes a small image with both, once per process, sampling and scale: blocks of noise, and blocks with
// coefficients that exceed 16 bits. Before 2.1 the library repeated the colour planes of 4:4:0 instead of
// interpolating them; without SIMD (as with JSIMD_FORCENONE=1) its arithmetic does not wrap. Thread-safe.
[[nodiscard]] bool library_decodes_identically(Sampling sampling, int scale);

}  // namespace imgpipe
