// For stages that move whole pixels (Effect::cuts, Effect::turns): one plane or one per channel, of any
// sample type.
#pragma once

#include <cstdint>

#include "kernels/frame.h"

namespace imgpipe {

// The number of planes of a frame including alpha; plane i has the index plane_of_channel(type, i).
[[nodiscard]] constexpr int moved_planes(const FrameType& type) {
  return type.layout == Layout::interleaved ? 1 : type.channels();
}

// The distance between adjacent pixels of a plane: 1, 2, 3, 4, 6, 8, 12 or 16.
template <class Byte, class Where>
[[nodiscard]] constexpr int pixel_bytes(const View<Byte, Where>& plane) {
  return plane.channels * static_cast<int>(bytes_per_sample(plane.sample));
}

}  // namespace imgpipe
