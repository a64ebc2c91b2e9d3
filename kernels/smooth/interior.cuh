// An image as a rectangle of pixels whose windows lie inside it, and the border around that rectangle.
#pragma once

#include "kernels/frame.h"
#include "kernels/pixel.h"

namespace imgpipe {

// Columns x0..x1-1 of rows y0..y1-1. All other pixels belong to the border.
struct Interior {
  std::int64_t x0, x1, y0, y1;

  IMGPIPE_HOST_DEVICE constexpr std::int64_t pixels() const { return (x1 - x0) * (y1 - y0); }
};

// Returns in x, y the position of pixel number `index` outside the interior: first the rows above it, then
// the rows below, then the pixels to its left and right.
__device__ inline void border_pixel(std::int64_t index, const FrameType& shape, const Interior& interior,
                                    std::int64_t& x, std::int64_t& y) {
  const std::int64_t above = interior.y0 * shape.width;
  const std::int64_t below = (shape.height - interior.y1) * shape.width;
  if (index < above) {
    y = index / shape.width;
    x = index - y * shape.width;
  } else if (index < above + below) {
    index -= above;
    y = index / shape.width;
    x = index - y * shape.width;
    y += interior.y1;
  } else {
    index -= above + below;
    const std::int64_t beside = shape.width - (interior.x1 - interior.x0);
    y = index / beside;
    x = index - y * beside;
    y += interior.y0;
    if (x >= interior.x0) x += interior.x1 - interior.x0;
  }
}

}  // namespace imgpipe
