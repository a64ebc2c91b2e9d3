// The ranges of values that contrast stretched to black and white in a run, and the samples that hist of
// floats found outside its limits.
#pragma once

#include <cstdint>
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

[[nodiscard]] bool is_contrast(const Operation& operation);
// Whether only the least and the greatest sample of the operation's counts are needed: only by contrast
// without clipping, and if `readers` is `timing`, only if the planner inserted the operation.
[[nodiscard]] bool needs_only_extremes(const Plan& plan, const Operation& counting, CountsFor readers);

// Returns one range per contrast step, or one per plane (contrast:stretch=each), in the order of the steps.
// `outcome` must have no error.
[[nodiscard]] std::vector<ContrastRange> contrast_ranges(Outcome& outcome);

struct OutsideCounts {
  std::string label;  // of the hist step
  int plane = 0;
  double lo = 0, hi = 0;
  std::uint64_t below = 0, above = 0, nan = 0;
};
// "hist:0:1, plane 0: below 0: 3, above 1: 5, NaN: 2".
[[nodiscard]] std::string outside_text(const OutsideCounts& counts);
// Returns the counts of each colour plane for each hist step of floats. `outcome` must have no error.
[[nodiscard]] std::vector<OutsideCounts> outside_counts(const Outcome& outcome);

}  // namespace imgpipe
