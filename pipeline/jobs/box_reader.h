// A rectangle of an image that a reader decodes.
#pragma once

#include <cstdint>
#include <memory>

#include "images/codecs/codec.h"

namespace imgpipe {

// A rectangle in pixels of the image as it is decoded.
struct Box {
  std::int64_t top = 0, left = 0, height = 0, width = 0;

  friend bool operator==(const Box&, const Box&) = default;
};

// Throws Error(usage) unless the box has pixels and lies inside an image of this shape.
void check_box(const Box& box, const Shape& image);

// Returns the pixels of a box that check_box() accepts.
[[nodiscard]] ConstHostView pixels_in(const Box& box, const ConstHostView& image);

// Returns a reader of the rows of a box; `reader` has read no rows yet. The rows around it are decoded, too,
// to validate the whole file. Throws like check_box().
[[nodiscard]] std::unique_ptr<Reader> make_box_reader(std::unique_ptr<Reader> reader, const Box& box);

}  // namespace imgpipe
