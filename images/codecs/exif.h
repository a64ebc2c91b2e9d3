// The one fact imgpipe takes from EXIF: how the picture is to be turned.
#pragma once

#include <cstddef>
#include <span>

#include "images/image.h"

namespace imgpipe {

// EXIF orientation (Exif 2.32, tag 0x0112): what must be done to the stored rows to see the scene upright.
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

// Reads the orientation from a TIFF structure (TIFF 6.0, section 2), as it stands in a PNG eXIf chunk or
// in a JPEG APP1 segment behind "Exif\0\0". Anything damaged, absent or outside 1..8 means upright:
// metadata never makes an image fail.
[[nodiscard]] Orientation exif_orientation(std::span<const std::byte> tiff) noexcept;

// The shape of an image of shape `stored` once `orientation` has been applied.
[[nodiscard]] Shape oriented_shape(Shape stored, Orientation orientation) noexcept;

// Writes the pixels of `stored` into `upright`, turned; upright has oriented_shape(stored.shape()), its
// sample type too. The two must not overlap.
void orient_pixels(ConstHostView stored, HostView upright, Orientation orientation);

}  // namespace imgpipe
