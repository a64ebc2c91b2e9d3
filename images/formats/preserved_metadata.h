// Selects the metadata that is preserved in the output (images/codecs/metadata/metadata.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

// Returns the file's own resolution; EXIF's if the file has none or no unit, or if both agree in whole dots
// per inch, because EXIF's numbers are exact.
[[nodiscard]] std::optional<Resolution> resolution_of(const FoundMetadata& found);

struct PreservedMetadata {
  std::shared_ptr<const Metadata> metadata;  // nullptr: nothing
  std::string unpreserved_profile;           // name of a dropped profile other than sRGB
  std::vector<std::string> lost;  // all other dropped metadata: "EXIF (damaged: ...)", "resolution (resized)"
};

// Returns why the metadata does not describe a result of another shape, for ImageChanges::reshaped; empty: it
// does. `turned`: the orientation was applied.
[[nodiscard]] std::string_view reshape_reason(const Shape& before, const Shape& after, bool turned);

// Finds, checks and adapts the file's metadata: resets the orientation if it was applied or a stage flips or
// rotates, updates EXIF's sizes and resolution, drops thumbnails and maker notes. Throws only Error(memory).
[[nodiscard]] PreservedMetadata keep_metadata(std::span<const std::byte> file, const ImageChanges& use);

// Returns "EXIF (bmp cannot store it), resolution (resized)"; empty if nothing was dropped.
[[nodiscard]] std::string lost_metadata_text(const std::vector<std::string>& lost);

}  // namespace imgpipe
