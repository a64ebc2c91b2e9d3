// Descriptions of TIFF files (field 270) that programs read: what of them stays true.
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
// As lines of lost metadata name it: "OME-XML", "ImageJ description".
[[nodiscard]] std::string description_name(std::span<const std::byte> description);

struct AdaptedDescription {
  std::optional<std::vector<std::byte>> text;  // nullopt: dropped
  std::vector<std::string> lost;               // "OME-XML (image size changed)"
};
// Drops a description that counts pages which are not written or says what the written image is not, and
// removes lines and attributes that are no longer true.
[[nodiscard]] AdaptedDescription adapt_description(std::span<const std::byte> description,
                                                   const MetadataUse& use);

// How many images ImageJ says that there are: `description` begins with "ImageJ=" and has a line images=N.
// 1 where it is none, or no number of 2 or more.
[[nodiscard]] std::int64_t imagej_images(std::span<const std::byte> description);

}  // namespace imgpipe
