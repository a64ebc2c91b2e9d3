// The rows of each stage's ladder (lab/kernels/ladders.h).
#pragma once

#include <span>

#include "lab/kernels/stage_variant.h"

namespace imgpipe {

[[nodiscard]] std::span<const StageVariant> gray_ladder();
[[nodiscard]] std::span<const StageVariant> hist_ladder();
[[nodiscard]] std::span<const StageVariant> contrast_ladder();
[[nodiscard]] std::span<const StageVariant> smooth_ladder();
[[nodiscard]] std::span<const StageVariant> equalize_ladder();
[[nodiscard]] std::span<const StageVariant> clahe_ladder();
[[nodiscard]] std::span<const StageVariant> median_ladder();
[[nodiscard]] std::span<const StageVariant> gray16_ladder();
[[nodiscard]] std::span<const StageVariant> hist16_ladder();
[[nodiscard]] std::span<const StageVariant> contrast16_ladder();
[[nodiscard]] std::span<const StageVariant> smooth16_ladder();

}  // namespace imgpipe
