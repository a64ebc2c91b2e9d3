// Byte for byte: what one implementation made against what another did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/engine.h"

namespace imgpipe {

struct Difference {
  std::int64_t count = 0;     // pixels, or histogram bins, that differ
  std::uint64_t largest = 0;  // absolute difference of one sample (floats: of their bits), or of one count
  bool of_bins = false;

  [[nodiscard]] bool identical() const { return count == 0; }
  // "identical", "12 pixels differ (max 3)", "2 bins differ (max 40)".
  [[nodiscard]] std::string text() const;
};

// Compares the outputs of each step of two outcomes of one plan, both made with keep_outputs: pixels of all
// planes for steps that write pixels, counts for the others. Throws std::logic_error when the plans differ.
[[nodiscard]] std::vector<Difference> compare_outcomes(const Outcome& tested, const Outcome& reference);

// Pixels (not samples) in which two frames of one shape differ.
[[nodiscard]] Difference compare_frames(const Frame<const std::byte, Host>& a,
                                        const Frame<const std::byte, Host>& b);

// Of one histogram each, channel after channel; throws std::logic_error when their sizes differ.
[[nodiscard]] Difference compare_counts(const std::vector<std::uint64_t>& a,
                                        const std::vector<std::uint64_t>& b);

}  // namespace imgpipe
