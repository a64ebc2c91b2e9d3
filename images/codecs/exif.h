// The EXIF orientation of an image.
#pragma once

#include <cstddef>
#include <span>

#include "images/image.h"

namespace imgpipe {

// EXIF orientation (Exif 2.32, tag 0x0112): the transformation that displays the stored rows upright.
enum class Orientation {
  upright = 1,
  mirror_horizontal = 2,
  rotate_180 = 3,
  mirror_vertical = 4,
  transpose = 5,   // mirror at the main diagonal
  rotate_90 = 6,   // clockwise
  transverse = 7,  // mirror at the other diagonal
  rotate_270 = 8,  // clockwise
};

// Reads the orientation from a TIFF structure (TIFF 6.0, section 2): a PNG eXIf chunk, or a JPEG APP1 segment
// after "Exif\0\0". A damaged, missing or invalid value means upright: metadata never makes an image fail.
[[nodiscard]] Orientation exif_orientation(std::span<const std::byte> tiff) noexcept;

// Returns the shape after applying `orientation` to an image of shape `stored`.
[[nodiscard]] Shape oriented_shape(Shape stored, Orientation orientation) noexcept;

// Writes the pixels of `stored` to `upright` according to `orientation`. `upright` has
// oriented_shape(stored.shape()); the two must not overlap.
void orient_pixels(ConstHostView stored, HostView upright, Orientation orientation);

}  // namespace imgpipe
