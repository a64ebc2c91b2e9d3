// The images of the contract: shapes, samples made of integers, second images and profiles
// (docs/contract.md).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "images/image.h"
#include "pipeline/second_images.h"

namespace imgpipe {

inline constexpr int kContractImages = 20;

// The shape of image 0 to 19: five sizes, each with 1 to 4 channels.
[[nodiscard]] Shape contract_shape(int image, Sample sample);

// Makes the image with that number; second images have numbers from kContractImages.
[[nodiscard]] Image contract_image(int number, const Shape& shape);

// Returns the images that steps name: grey, same, logo and map.
[[nodiscard]] std::vector<NamedImage> contract_second_images(const Shape& shape);

// Returns the profile that icc steps read: Adobe RGB (1998), or its curve for grey.
[[nodiscard]] std::shared_ptr<const std::vector<std::byte>> contract_profile(const Shape& shape);

// Returns "17x5x3".
[[nodiscard]] std::string contract_shape_text(const Shape& shape);

}  // namespace imgpipe
