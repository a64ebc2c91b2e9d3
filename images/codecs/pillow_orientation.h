// The orientation that Pillow 13.0.0 applies (ImageOps.exif_transpose): it reads EXIF that other readers
// reject.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "images/codecs/exif.h"

namespace imgpipe {

// Reads an EXIF block, with or without "Exif\0\0". Upright for other values; nullopt without an orientation:
// then XMP counts.
[[nodiscard]] std::optional<Orientation> pillow_exif_orientation(std::span<const std::byte> block);
// Searches XMP for tiff:Orientation, without parsing it.
[[nodiscard]] Orientation pillow_xmp_orientation(std::span<const std::byte> packet);

}  // namespace imgpipe
