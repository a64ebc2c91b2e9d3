// XMP properties that announce files appended to a JPEG: the gain map of an HDR image (Adobe Gain Map 1.0,
// Ultra HDR Image Format 1.1), the video of a motion photo (Motion Photo Format 1.0), depth maps. Outputs do
// not contain those files.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// A name in FoundMetadata::lost.
inline constexpr const char* kGainMapName = "HDR gain map";

// Removes these properties from a packet with nested elements and changes nothing else. Returns what they
// announced: "HDR gain map", "motion photo video", "appended images". Throws Error(input) if they cannot be
// distinguished from other properties.
std::vector<std::string> remove_appended_files(std::string& packet);

}  // namespace imgpipe
