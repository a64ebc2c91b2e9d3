// XMP packets (ISO 16684-1; XMP Specification Part 3): what of them is looked at.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/exif.h"

namespace imgpipe {

// The packet, checked: UTF-8 without zeros and control characters, elements that nest and end, no DOCTYPE,
// and an rdf:RDF in it. Thumbnails (xmp:Thumbnails) are removed, and `removed` names them; with
// `reset_orientation` tiff:Orientation, attribute or element, becomes 1. Properties that announce appended
// files are removed, and `removed` gets the names of these files (xmp_appended_files.h). Throws Error(input),
// whose text is short: "damaged: ...".
[[nodiscard]] std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool reset_orientation,
                                                 std::vector<std::string>* removed = nullptr);

// tiff:Orientation of a packet that is in order; upright for any other.
[[nodiscard]] Orientation xmp_orientation(std::span<const std::byte> packet);

// Removes tiff:XResolution, YResolution and ResolutionUnit from a checked packet; false: it has none. Throws
// Error(input) for attributes that cannot be told apart.
bool remove_xmp_resolution(std::vector<std::byte>& packet);

// Whether it says that more of it stands in further segments of a JPEG, which are not read.
[[nodiscard]] bool is_extended_xmp(std::span<const std::byte> packet);

}  // namespace imgpipe
