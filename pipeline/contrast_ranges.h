// The ranges of values that contrast stretched to black and white in a run.
#pragma once

#include <string>
#include <vector>

#include "pipeline/engine.h"

namespace imgpipe {

struct ContrastRange {
  std::string label;  // of the contrast step
  int plane = 0;
  int lo = 0;
  int hi = 0;
  bool of_one_plane = false;  // false: the range of all planes
};

// Whether contrast left the plane unchanged.
[[nodiscard]] constexpr bool has_no_range(const ContrastRange& range) {
  return range.hi <= range.lo;
}
// "contrast has no range to stretch (lo 7, hi 7) and changes nothing".
[[nodiscard]] std::string no_range_text(const ContrastRange& range);

// Whether the step is contrast, or a fused stage that begins with it.
[[nodiscard]] bool is_contrast(const Step& step);

// Returns one range per contrast step, or one per plane (contrast:stretch=each), in the order of the steps.
// `outcome` must have no error.
[[nodiscard]] std::vector<ContrastRange> contrast_ranges(Outcome& outcome);

}  // namespace imgpipe
