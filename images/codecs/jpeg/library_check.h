// Whether the libjpeg-turbo that is there makes the pixels that our decoder makes.
#pragma once

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// Decodes a small noisy image both ways, once for each sampling and process. Versions differ: before 2.1 the
// colour planes of 4:4:0 were repeated, not interpolated. From any thread.
[[nodiscard]] bool library_agrees(Sampling sampling);

}  // namespace imgpipe
