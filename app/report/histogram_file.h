// --histogram: the counts before and after, as CSV, JSON or SVG.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/report/image_report.h"
#include "images/plane.h"
#include "kernels/hist/float_bins.h"

namespace imgpipe {

// The counts of one image: one per sample value for each colour plane, one plane after another. Floats: those
// of equal bins, between the count below the limits and the counts above and of NaN.
struct Counts {
  std::vector<std::uint64_t> values;
  Sample sample = Sample::u8;
  FloatBins limits{};  // of floats

  [[nodiscard]] int bins() const { return is_float(sample) ? limits.bins : row(); }
  [[nodiscard]] int planes() const { return static_cast<int>(values.size()) / row(); }
  [[nodiscard]] std::uint64_t at(int plane, int bin) const {
    return values[static_cast<std::size_t>(plane * row() + bin + (is_float(sample) ? 1 : 0))];
  }
  // Of floats: the counts below and above the limits and of NaN.
  [[nodiscard]] std::array<std::uint64_t, 3> outside(int plane) const {
    return {at(plane, -1), at(plane, limits.bins), at(plane, limits.bins + 1)};
  }

 private:
  [[nodiscard]] int row() const { return counters_of(sample); }
};

// "red", "green", "blue"; or "grey".
[[nodiscard]] std::vector<std::string> plane_names(const Counts& counts);

struct HistogramPair {
  std::string title;
  std::string before_label;  // the image that was counted
  std::string after_label;
  Counts before;
  Counts after;                       // may have a different sample type
  std::vector<ContrastRange> ranges;  // marked in `before`; empty if nothing was stretched
};

// Returns the file's text; the ending of `path` (.csv, .json or .svg) selects the format.
[[nodiscard]] std::string histogram_text(const HistogramPair& pair, const std::string& path);
[[nodiscard]] std::string histogram_schema();
[[nodiscard]] std::string histogram_svg(const HistogramPair& pair);

}  // namespace imgpipe
