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

// Calls `use` for each resource in a block. Stops and returns false at the first damage.
bool for_each_photoshop_resource(
    std::span<const std::byte> block,
    const std::function<void(std::uint32_t id, std::span<const std::byte> data)>& use);

// Reads IPTC from a file's Photoshop resources, and reports other resources that describe the image as lost.
void find_photoshop_metadata(std::span<const std::byte> block, FoundMetadata& found);

// Returns the datasets without trailing zeros. Throws Error(input) "damaged: ..." if they are invalid.
[[nodiscard]] std::span<const std::byte> checked_iptc(std::span<const std::byte> datasets);

// Returns a Photoshop resource with these datasets.
[[nodiscard]] std::vector<std::byte> iptc_resource(std::span<const std::byte> datasets);

}  // namespace imgpipe
