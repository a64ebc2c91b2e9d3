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
  int hi = 0;                 // hi <= lo: the plane stayed as it was
  bool of_one_plane = false;  // else of all
};

// contrast, or a fused stage that begins with it.
[[nodiscard]] bool is_contrast(const Step& step);

// One range of every contrast step, or one a plane (contrast:stretch=each), in the order of the steps. Of an
// outcome without error.
[[nodiscard]] std::vector<ContrastRange> contrast_ranges(Outcome& outcome);

}  // namespace imgpipe
