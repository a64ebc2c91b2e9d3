// What contrast stretched to black and white, after a run.
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
  bool of_one_plane = false;  // else of all
};

// Whether the plane stayed unchanged.
[[nodiscard]] constexpr bool has_no_range(const ContrastRange& range) {
  return range.hi <= range.lo;
}
// "contrast has no range to stretch (lo 7, hi 7) and changes nothing".
[[nodiscard]] std::string no_range_text(const ContrastRange& range);

// contrast, or a fused stage that begins with it.
[[nodiscard]] bool is_contrast(const Operation& operation);

// One range of every contrast step, or one a plane (contrast:stretch=each), in the order of the steps. Of an
// outcome without error.
[[nodiscard]] std::vector<ContrastRange> contrast_ranges(Outcome& outcome);

}  // namespace imgpipe
