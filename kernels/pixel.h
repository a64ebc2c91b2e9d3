// Definitions for the arithmetic of single pixels. Each stage defines its arithmetic once, for host and
// device, in integers where possible, rounding half up unless stated otherwise. Loops, tiles and vectors are
// defined separately, and never shared between the reference and other implementations.
#pragma once

#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe {

// Bins of a histogram of 8-bit samples.
inline constexpr int kBins = kMaxSample + 1;

}  // namespace imgpipe
