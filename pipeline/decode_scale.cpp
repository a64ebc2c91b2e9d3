#include "pipeline/decode_scale.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/frame.h"
#include "kernels/resize/resize.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

// Steps that neither move nor count pixels.
constexpr std::array<std::string_view, 3> kColorSteps{"gray", "rgb", "flatten"};

}  // namespace

std::function<std::optional<Shape>(const Shape&)> least_decoded_size(std::span<const StageRequest> steps) {
  const auto step = std::ranges::find_if_not(steps, [](const StageRequest& request) {
    return std::ranges::find(kColorSteps, request.stage->name) != kColorSteps.end();
  });
  if (step == steps.end() || step->stage->name != "resize") return {};
  if (ResizeParameters(step->parameters).percent > 0) return {};
  return [parameters = step->parameters](const Shape& unscaled) -> std::optional<Shape> {
    return shape_of(resize_output(frame_type_of(unscaled), parameters));
  };
}

}  // namespace imgpipe
