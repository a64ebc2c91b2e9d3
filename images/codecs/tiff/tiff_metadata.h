// What of an image's metadata stands in a TIFF's directory: fields of their own, and the directories of EXIF
// behind it (Exif 2.32, section 4.6.3; XMP Specification Part 3; GeoTIFF 1.1, OGC 19-008r4).
#pragma once

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/tiff/tiff_fields.h"

namespace imgpipe {

// Of a directory's image; nullopt where it is not said, or makes no sense.
[[nodiscard]] std::optional<Resolution> tiff_resolution(const TiffDirectory& directory, bool big_endian);

// The resolution in an EXIF block, which is a TIFF structure; nullopt also if the block is damaged.
[[nodiscard]] std::optional<Resolution> exif_resolution(std::span<const std::byte> exif);

// Behind all other fields, once. A BigTIFF gets no directories of EXIF, whose offsets have 32 bits.
void add_tiff_metadata(TiffFields& fields, const Metadata& metadata, bool big);

}  // namespace imgpipe
