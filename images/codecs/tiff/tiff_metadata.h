// Reads and writes the metadata in a TIFF's directory: separate fields and EXIF directories (Exif 2.32,
// section 4.6.3; XMP Specification Part 3; GeoTIFF 1.1, OGC 19-008r4).
#pragma once

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/tiff/tiff_fields.h"

namespace imgpipe {

// Returns the resolution in a directory; nullopt if missing or invalid.
[[nodiscard]] std::optional<Resolution> tiff_resolution(const TiffDirectory& directory, bool big_endian);

// Returns the resolution in an EXIF block, which is a TIFF structure; nullopt also if the block is damaged.
[[nodiscard]] std::optional<Resolution> exif_resolution(std::span<const std::byte> exif);

// Adds metadata after all other fields. A BigTIFF gets no EXIF directories, whose offsets have 32 bits.
void add_tiff_metadata(TiffFields& fields, const Metadata& metadata, bool big);

}  // namespace imgpipe
