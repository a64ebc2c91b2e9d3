// Weights and sums of floats along an axis, for host and device. linear goes across first, then down; area
// down the columns first, then across.
#pragma once

#include <cstdint>

#include "kernels/resize/axis.h"

namespace imgpipe {

// Between two samples, the second `share` of the way; the first alone where that is 0.
IMGPIPE_HOST_DEVICE inline float float_blended(float first, float second, float share) {
  return share == 0.0F ? first : (1.0F - share) * first + share * second;
}

// What an output pixel of area covers on an axis: all of each input pixel but of the first and the last. Its
// sum goes from `first` to `last`, and is divided by `length`.
struct FloatCover {
  std::int64_t first, last;
  float first_weight, last_weight;
  float length;

  [[nodiscard]] IMGPIPE_HOST_DEVICE float weight_of(std::int64_t i) const {
    return i == first ? first_weight : i == last ? last_weight : 1.0F;
  }
};

// Both edges of the pixel as AxisTable has them, and AreaUnits of the axis.
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
