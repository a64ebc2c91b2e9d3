// A rectangle of the plane that contains an image; the pixels outside the image have one colour. For stages
// that move whole pixels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/frame.h"

namespace imgpipe {

// Output pixel (x, y) is input pixel (x + left, y + top), or has `color` (kernels/shared/color.h) if the
// input has no such pixel.
struct Canvas {
  std::int64_t left = 0, top = 0;
  std::int64_t color = 0;
};

// Returns n / 2 for n >= 0, with halves rounded to the nearest even integer, as Python's round(n / 2).
[[nodiscard]] constexpr std::int64_t half_rounded_to_even(std::int64_t n) {
  return n / 2 + (n % 4 == 3 ? 1 : 0);
}
static_assert(half_rounded_to_even(1) == 0 && half_rounded_to_even(2) == 1 && half_rounded_to_even(3) == 2 &&
              half_rounded_to_even(5) == 2);

// Whether a canvas of `size` pixels at `offset` is within a side of `of` pixels.
[[nodiscard]] constexpr bool is_inside(std::int64_t offset, std::int64_t size, std::int64_t of) {
  return offset >= 0 && size <= of && offset <= of - size;
}

// Returns the input rows that output rows need. At least one, so that engines call the stage for bands of
// padding only.
[[nodiscard]] constexpr RowRange canvas_rows(const Canvas& canvas, std::int64_t in_height, RowRange out) {
  const std::int64_t least = out.count() > 0 ? 1 : 0;
  return {std::clamp<std::int64_t>(out.first + canvas.top, 0, in_height - least),
          std::clamp<std::int64_t>(out.end + canvas.top, least, in_height)};
}

}  // namespace imgpipe
