// Whether the libjpeg-turbo that is there makes the pixels that our decoder makes.
#pragma once

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// Decodes two small images both ways, once for each sampling and process: noise, and coefficients that leave
// 16 bits. Versions differ: before 2.1 the colour planes of 4:4:0 were repeated, not interpolated; without
// SIMD (JSIMD_FORCENONE=1 too) nothing wraps. From any thread.
[[nodiscard]] bool library_agrees(Sampling sampling);

}  // namespace imgpipe
