// Tables of icc steps, made of the ICC profile of the image.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "kernels/second_image.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// Returns the options with those that icc steps need: the profile, and the inks of CMYK if icc is the first
// step.
[[nodiscard]] DecodeOptions with_profile(DecodeOptions options, std::span<const StageRequest> steps);

// Gives the first icc step the table of the image's profile, and its label the table's rule, unless the image
// has no profile or that of sRGB. Throws Error(input) for a damaged profile, one of another kind of device or
// of other channels, or CMYK that was not decoded to inks.
[[nodiscard]] std::vector<StageRequest> with_profile(std::span<const StageRequest> steps,
                                                     const ImageHeader& header);

// Returns the table of kernels/icc/icc.h for a profile, whose name is that of the rule. Keeps the last ones.
// Thread-safe. Throws like with_profile().
[[nodiscard]] std::shared_ptr<const SecondImage> profile_table(std::span<const std::byte> profile,
                                                               std::int64_t intent);

}  // namespace imgpipe
