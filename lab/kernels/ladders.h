// The table of all ladders. Stages do not depend on it.
#pragma once

#include <span>
#include <string_view>

#include "lab/kernels/stage_variant.h"

namespace imgpipe {

// All variants of a stage's work, with fixed options and sample type, oldest first: from the sequential
// reference to the production kernel. For each device, the last variant is the product's own function.
struct Ladder {
  std::string_view name;   // the value of --stage in imgpipe bench: hist, hist16, median5
  std::string_view stage;  // its name in the table of stages
  std::span<const StageVariant> variants;
  Sample sample = Sample::u8;
  Parameters parameters = {};  // the stage's options
};

// 8-bit ladders in the order of the table of stages, then 16-bit ladders.
[[nodiscard]] std::span<const Ladder> ladder_table();

// Returns nullptr if no ladder has that name.
[[nodiscard]] const Ladder* find_ladder(std::string_view name);

// Whether the ladder's stage runs this variant in the product.
[[nodiscard]] bool is_production(const StageVariant& variant, const Ladder& ladder);

}  // namespace imgpipe
