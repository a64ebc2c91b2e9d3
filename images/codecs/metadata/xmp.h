// XMP packets (ISO 16684-1; XMP Specification Part 3): what of them is looked at.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace imgpipe {

// The packet, checked: UTF-8 without zeros and control characters, elements that nest and end, no DOCTYPE,
// and an rdf:RDF in it. Thumbnails (xmp:Thumbnails) are left out; with `reset_orientation` tiff:Orientation,
// attribute or element, becomes 1. Throws Error(input), whose text is short: "damaged: ...".
[[nodiscard]] std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool reset_orientation);

// Whether it says that more of it stands in further segments of a JPEG, which are not read.
[[nodiscard]] bool is_extended_xmp(std::span<const std::byte> packet);

}  // namespace imgpipe
