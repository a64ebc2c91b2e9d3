// For stages that move whole pixels (Effect::cuts, Effect::turns), whatever a pixel is: one plane with all
// channels, or a plane of each, of any type of samples.
#pragma once

#include <cstdint>

#include "kernels/frame.h"

namespace imgpipe {

// Planes of a frame that has its alpha: the i-th is number plane_of_channel(type, i).
[[nodiscard]] constexpr int moved_planes(const FrameType& type) {
  return type.layout == Layout::interleaved ? 1 : type.channels();
}

// From a pixel of a plane to the next: 1, 2, 3, 4, 6, 8, 12 or 16.
template <class Byte, class Where>
[[nodiscard]] constexpr int pixel_bytes(const View<Byte, Where>& plane) {
  return plane.channels * static_cast<int>(bytes_per_sample(plane.sample));
}

}  // namespace imgpipe
