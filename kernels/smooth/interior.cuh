// An image as a rectangle whose pixels all have a whole window inside, and the border around it.
#pragma once

#include "kernels/frame.h"
#include "kernels/pixel.h"

namespace imgpipe {

// Columns x0..x1-1 of rows y0..y1-1. All other pixels are the border's.
struct Interior {
  std::int64_t x0, x1, y0, y1;

  IMGPIPE_HOST_DEVICE constexpr std::int64_t pixels() const { return (x1 - x0) * (y1 - y0); }
};

// Pixel number `index` outside the interior: the rows above it, the rows below, then what is left and right
// of it.
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
