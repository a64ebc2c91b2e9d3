// XMP packets (ISO 16684-1; XMP Specification Part 3): what of them is looked at.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// The packet, checked: UTF-8 without zeros and control characters, elements that nest and end, no DOCTYPE,
// and an rdf:RDF in it. Thumbnails (xmp:Thumbnails) are removed, and `removed` names them; with
// `reset_orientation` tiff:Orientation, attribute or element, becomes 1. Properties that announce appended
// files are removed, and `removed` gets the names of these files (xmp_appended_files.h). Throws Error(input),
// whose text is short: "damaged: ...".
[[nodiscard]] std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool reset_orientation,
                                                 std::vector<std::string>* removed = nullptr);

// Whether it says that more of it stands in further segments of a JPEG, which are not read.
[[nodiscard]] bool is_extended_xmp(std::span<const std::byte> packet);

}  // namespace imgpipe
