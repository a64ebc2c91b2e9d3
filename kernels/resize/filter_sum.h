// The rounding of a pass of Pillow's filters.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/resize/filter_axis.h"

namespace imgpipe {

// Rounds a sum of weighted 8-bit samples to the nearest sample.
[[nodiscard]] constexpr Sample8 filter_rounded(std::int32_t sum) {
  constexpr std::int32_t kHalf = 1 << (kFilterBits - 1);
  return static_cast<Sample8>(std::clamp((sum + kHalf) >> kFilterBits, 0, kMaxSample));
}
// The same for 16-bit samples, in doubles; half becomes 1.
[[nodiscard]] inline Sample16 filter_rounded(double sum) {
  return static_cast<Sample16>(std::clamp(std::floor(sum + 0.5), 0.0, double{kLargest<Sample16>}));
}

static_assert(filter_rounded(-1) == 0 && filter_rounded((1 << 21) - 1) == 0 && filter_rounded(1 << 21) == 1);
static_assert(filter_rounded(255 << 22) == 255 && filter_rounded(300 << 22) == 255);

}  // namespace imgpipe
