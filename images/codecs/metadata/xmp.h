// Checks and edits XMP packets (ISO 16684-1; XMP Specification Part 3).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/exif.h"

namespace imgpipe {

// Returns the checked packet: UTF-8 without NULs and control characters, nested elements including rdf:RDF,
// no DOCTYPE. Removes thumbnails (xmp:Thumbnails) and properties that announce appended files
// (xmp_appended_files.h), and adds their names to `removed`. With `reset_orientation`, sets tiff:Orientation,
// attribute or element, to 1. Throws Error(input) "damaged: ...".
[[nodiscard]] std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool reset_orientation,
                                                 std::vector<std::string>* removed = nullptr);

// Returns tiff:Orientation of a valid packet; upright if the packet is invalid or has none.
[[nodiscard]] Orientation xmp_orientation(std::span<const std::byte> packet);

// Removes tiff:XResolution, YResolution and ResolutionUnit from a checked packet; returns false if it has
// none. Throws Error(input) for malformed attributes.
bool remove_xmp_resolution(std::vector<std::byte>& packet);

// Whether the packet continues in further segments of a JPEG, which are not read.
[[nodiscard]] bool is_extended_xmp(std::span<const std::byte> packet);

}  // namespace imgpipe
