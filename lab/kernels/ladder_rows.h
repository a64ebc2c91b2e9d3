// The rows of each stage's ladder (lab/kernels/ladders.h).
#pragma once

#include <span>

#include "lab/kernels/stage_variant.h"

namespace imgpipe {

[[nodiscard]] std::span<const Rung> gray_ladder();
[[nodiscard]] std::span<const Rung> hist_ladder();
[[nodiscard]] std::span<const Rung> contrast_ladder();
[[nodiscard]] std::span<const Rung> smooth_ladder();
[[nodiscard]] std::span<const Rung> equalize_ladder();
[[nodiscard]] std::span<const Rung> clahe_ladder();
[[nodiscard]] std::span<const Rung> median_ladder();
[[nodiscard]] std::span<const Rung> gray16_ladder();
[[nodiscard]] std::span<const Rung> hist16_ladder();
[[nodiscard]] std::span<const Rung> contrast16_ladder();
[[nodiscard]] std::span<const Rung> smooth16_ladder();

}  // namespace imgpipe
