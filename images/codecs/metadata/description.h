// Adapts TIFF descriptions (field 270) that programs parse, so that they stay true in the output.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

// "OME-XML", "ImageJ", "tifffile" or "text".
[[nodiscard]] std::string_view description_kind(std::span<const std::byte> description);
// Returns the name in reports of lost metadata: "OME-XML", "ImageJ description".
[[nodiscard]] std::string description_name(std::span<const std::byte> description);

struct AdaptedDescription {
  std::optional<std::vector<std::byte>> text;  // nullopt: dropped
  std::vector<std::string> lost;               // "OME-XML (image size changed)"
};
// Drops a description that counts pages not written or contradicts the written image. Otherwise, removes the
// lines and attributes that are no longer true.
[[nodiscard]] AdaptedDescription adapt_description(std::span<const std::byte> description,
                                                   const ImageChanges& use);

// Returns N if `description` begins with "ImageJ=" and has a line images=N with N >= 2; else 1.
[[nodiscard]] std::int64_t imagej_images(std::span<const std::byte> description);

}  // namespace imgpipe
