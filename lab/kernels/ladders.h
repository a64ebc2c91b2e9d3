// The lab's table: every ladder there is. Stages know nothing of it, and need none.
#pragma once

#include <span>
#include <string_view>

#include "lab/kernels/rung.h"

namespace imgpipe {

// Every way to do a stage's work with some options on samples of one type, oldest first: the sequential
// reference to the production kernel. For each device the last rung is the product's own function.
struct Ladder {
  std::string_view name;   // as --stage of imgpipe bench takes it: hist, hist16, median5
  std::string_view stage;  // its name in the table of stages
  std::span<const Rung> rungs;
  Sample sample = Sample::u8;
  Parameters parameters = {};  // the stage's options
};

// Those of 8 bits in the order of the table of stages, then those of 16.
[[nodiscard]] std::span<const Ladder> ladder_table();

// nullptr when there is none of that name.
[[nodiscard]] const Ladder* find_ladder(std::string_view name);

// True when the rung is what the ladder's stage runs on its device.
[[nodiscard]] bool is_production(const Rung& rung, const Ladder& ladder);

}  // namespace imgpipe
