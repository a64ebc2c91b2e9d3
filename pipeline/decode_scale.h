// The choice of DecodeOptions::scale for a list of steps.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "images/plane.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// Returns DecodeOptions::least_size, by rule scale1: the size that the first resize makes of the unscaled
// image. nullopt if a step before it is neither gray, rgb nor flatten, if its size is a percentage, or if
// there is none.
[[nodiscard]] std::function<std::optional<Shape>(const Shape&)> least_decoded_size(
    std::span<const StageRequest> steps);

}  // namespace imgpipe
