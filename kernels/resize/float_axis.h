// Weights and sums of floats along an axis, for host and device. linear blends across first, then down; area
// averages down first, then across.
#pragma once

#include <cstdint>

#include "kernels/resize/axis.h"

namespace imgpipe {

// Returns (1 - share) * first + share * second, or `first` alone if share is 0.
IMGPIPE_HOST_DEVICE inline float float_blended(float first, float second, float share) {
  return share == 0.0F ? first : (1.0F - share) * first + share * second;
}

// The input pixels that an output pixel of area covers on an axis, with weight 1 except for the first and the
// last. The sum goes from `first` to `last`, and is divided by `length`.
struct FloatCover {
  std::int64_t first, last;
  float first_weight, last_weight;
  float length;

  [[nodiscard]] IMGPIPE_HOST_DEVICE float weight_of(std::int64_t i) const {
    return i == first ? first_weight : i == last ? last_weight : 1.0F;
  }
};

// An edge of the pixel as in AxisTable.
struct AreaEdge {
  std::int64_t source, share;
};
IMGPIPE_HOST_DEVICE inline FloatCover float_cover(const AreaEdge& from, const AreaEdge& to,
                                                  const AreaUnits& units) {
  const std::int64_t last = to.share > 0 ? to.source : to.source - 1;
  const std::int64_t before_end = to.share > 0 ? to.share : units.in_pixel;
  const auto whole = static_cast<float>(units.in_pixel);
  const std::int64_t first_units = (from.source == last ? before_end : units.in_pixel) - from.share;
  const float first_weight = static_cast<float>(first_units) / whole;
  const float last_weight = static_cast<float>(before_end) / whole;
  return {from.source, last, first_weight, last_weight, static_cast<float>(units.out_pixel) / whole};
}

}  // namespace imgpipe
