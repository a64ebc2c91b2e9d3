// trim steps as crops. A trim keeps the part of the image that differs from the background, so that plans of
// it need a pass over the pixels that reach the step.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

[[nodiscard]] bool has_trim(std::span<const StageRequest> steps);
// Throws Error(usage) if there is a trim, for callers that plan without the pixels.
void refuse_trim(std::span<const StageRequest> steps);
// Returns the steps that a plan of an image whose pixels are unknown may contain.
[[nodiscard]] std::vector<StageRequest> steps_before_trim(std::span<const StageRequest> steps);

struct TrimmedSteps {
  std::vector<StageRequest> steps;
  std::vector<std::string> notes;  // on trims that change nothing, because the image is all background
};
// For each trim, reads the image once and runs the steps before it, on the calling thread, band by band.
// `open` returns a reader of the image. Throws the errors of readers and engines, and Error(usage) for
// floats.
[[nodiscard]] TrimmedSteps trimmed_steps(std::span<const StageRequest> steps,
                                         const std::function<std::unique_ptr<Reader>()>& open,
                                         std::int64_t max_pixels);

}  // namespace imgpipe
