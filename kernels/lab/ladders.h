// The lab's table: every ladder there is. Stages know nothing of it, and need none.
#pragma once

#include <span>
#include <string_view>

#include "kernels/lab/rung.h"

namespace imgpipe {

// Every way to do a stage's work, oldest first: the sequential reference to the production kernel. For each
// device the last rung is the product's own function.
struct Ladder {
  std::string_view stage;  // its name in the table of stages
  std::span<const Rung> rungs;
};

// In the order of the table of stages.
[[nodiscard]] std::span<const Ladder> ladder_table();

// nullptr when the stage has none.
[[nodiscard]] const Ladder* find_ladder(std::string_view stage);

}  // namespace imgpipe
