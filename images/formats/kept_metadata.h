// The part of a file's metadata that is preserved in the file made from it
// (images/codecs/metadata/metadata.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

// The file's own resolution; EXIF's where the file has none or no unit, or where both are the same in whole
// dots per inch, because EXIF's numbers are exact.
[[nodiscard]] std::optional<Resolution> resolution_of(const FoundMetadata& found);

struct KeptMetadata {
  std::shared_ptr<const Metadata> metadata;  // nullptr: nothing
  std::string lost_profile;                  // name of a profile other than sRGB that is not kept
  std::vector<std::string> lost;             // all others: "EXIF (damaged: ...)", "resolution (resized)"
};

// Finds, checks and adapts what the file holds: orientation reset where it was applied or a step flips or
// rotates, EXIF's sizes and resolution those of the result, thumbnails and maker notes left out. Throws only
// Error(memory).
[[nodiscard]] KeptMetadata keep_metadata(std::span<const std::byte> file, const MetadataUse& use);

// For the user: "EXIF (bmp has no place for it), resolution (resized)"; empty: nothing is lost.
[[nodiscard]] std::string lost_metadata_text(const std::vector<std::string>& lost);

}  // namespace imgpipe
