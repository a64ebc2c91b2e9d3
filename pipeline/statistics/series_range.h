// One range of contrast for a series of images, from their counts added up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contrast/contrast.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// The step that stretches every image of a series alike: levels:LO:HI:BITS, with lo and hi as contrast finds
// them by its clip (docs/pixels.md), of all channels together. `channels`: 256 or 65,536 counts each, of
// kMostSamples in all; the scale is that of the largest. Throws Error(input) where there are none, or all are
// zero.
[[nodiscard]] StageRequest levels_of_series(std::span<const std::vector<std::uint64_t>> channels,
                                            const ContrastParameters& parameters);

// Whether a levels step of a series leaves every image unchanged: hi <= lo.
[[nodiscard]] bool has_no_range(const StageRequest& levels);

}  // namespace imgpipe
