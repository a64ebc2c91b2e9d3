// Compares the results of two implementations exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/engine.h"

namespace imgpipe {

struct Difference {
  std::int64_t count = 0;     // pixels, or histogram bins, that differ
  std::uint64_t largest = 0;  // absolute difference of a sample (floats: of their bits), or of a count
  bool of_bins = false;

  [[nodiscard]] bool identical() const { return count == 0; }
  // "identical", "12 pixels differ (max 3)", "2 bins differ (max 40)".
  [[nodiscard]] std::string text() const;
};

// Compares two outcomes of one plan step by step: the pixels of all planes, or the counts of steps that write
// no pixels. Both must have been made with keep_outputs. Throws std::logic_error if the plans differ.
[[nodiscard]] std::vector<Difference> compare_outcomes(const Outcome& tested, const Outcome& reference);

// Counts the pixels (not samples) in which two frames of one shape differ.
[[nodiscard]] Difference compare_frames(const Frame<const std::byte, Host>& a,
                                        const Frame<const std::byte, Host>& b);

// Compares two histograms, channel after channel. Throws std::logic_error if their sizes differ.
[[nodiscard]] Difference compare_counts(const std::vector<std::uint64_t>& a,
                                        const std::vector<std::uint64_t>& b);

}  // namespace imgpipe
