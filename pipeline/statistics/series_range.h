// The common contrast range of a series of images, from their total counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contrast/contrast.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// Returns the step that stretches all images of a series equally: levels:LO:HI:BITS, by contrast's clip rule
// (docs/pixels.md) over all channels. `channels`: 256 or 65,536 counts each, at most kMaxSamples in total;
// the scale is that of the channel with more bins. Throws Error(input) if nothing was counted.
[[nodiscard]] StageRequest levels_of_series(std::span<const std::vector<std::uint64_t>> channels,
                                            const ContrastParameters& parameters);

// Returns lo and hi of such a step.
[[nodiscard]] StretchRange series_range(const StageRequest& levels);

// Whether a levels step of a series leaves every image unchanged: hi <= lo.
[[nodiscard]] bool has_no_range(const StageRequest& levels);

}  // namespace imgpipe
