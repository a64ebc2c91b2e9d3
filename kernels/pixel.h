// What the arithmetic of single pixels shares. Each stage's own stands in its folder, once for host and
// device, in integers wherever they do; rounding is half up unless the stage says otherwise. Loops, tiles and
// vectors stand elsewhere and are never shared between the reference and the rest.
#pragma once

#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe {

// Counters of a histogram of 8-bit samples.
inline constexpr int kBins = kMaxSample + 1;

}  // namespace imgpipe
