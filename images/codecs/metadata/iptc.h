// IPTC (IPTC-NAA Information Interchange Model 4.2) and the Photoshop image resources in which JPEG and PSD
// files store it (Adobe Photoshop File Formats Specification, "Image Resources").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

// Calls `use` for each resource in a block of them. Returns false for a block that is damaged, after the
// resources in front of the damage.
bool for_each_photoshop_resource(
    std::span<const std::byte> block,
    const std::function<void(std::uint32_t id, std::span<const std::byte> data)>& use);

// Takes IPTC from the resources of a file, and names the others that describe the image and are not read.
void find_photoshop_metadata(std::span<const std::byte> block, FoundMetadata& found);

// The datasets, checked: each inside, and nothing but zeros after the last, which are cut off. Throws
// Error(input): "damaged: ...".
[[nodiscard]] std::span<const std::byte> checked_iptc(std::span<const std::byte> datasets);

// The Photoshop resource of these datasets.
[[nodiscard]] std::vector<std::byte> iptc_resource(std::span<const std::byte> datasets);

}  // namespace imgpipe
