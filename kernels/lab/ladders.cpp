#include "kernels/lab/ladders.h"

#include <algorithm>
#include <array>

#include "kernels/lab/contrast_ladder.h"
#include "kernels/lab/gray_ladder.h"
#include "kernels/lab/hist_ladder.h"
#include "kernels/lab/smooth_ladder.h"

namespace imgpipe {

std::span<const Ladder> ladder_table() {
  static const std::array kLadders{
      Ladder{.stage = "gray", .rungs = gray_ladder()},
      Ladder{.stage = "hist", .rungs = hist_ladder()},
      Ladder{.stage = "contrast", .rungs = contrast_ladder()},
      Ladder{.stage = "smooth", .rungs = smooth_ladder()},
  };
  return kLadders;
}

const Ladder* find_ladder(std::string_view stage) {
  const std::span<const Ladder> ladders = ladder_table();
  const auto found = std::ranges::find(ladders, stage, &Ladder::stage);
  return found == ladders.end() ? nullptr : &*found;
}

}  // namespace imgpipe
