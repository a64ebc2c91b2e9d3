// Removes XMP properties that announce files appended to a JPEG, because outputs do not contain these files:
// HDR gain maps (Adobe Gain Map 1.0, Ultra HDR Image Format 1.1), videos of motion photos (Motion Photo
// Format 1.0), depth maps.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// A name in FoundMetadata::lost.
inline constexpr const char* kGainMapName = "HDR gain map";

// Removes these properties from a packet with nested elements and changes nothing else. Returns the names of
// the announced data: "HDR gain map", "motion photo video", "appended images". Throws Error(input) if the
// properties cannot be distinguished from others.
std::vector<std::string> remove_appended_files(std::string& packet);

}  // namespace imgpipe
