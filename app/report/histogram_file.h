// --histogram: the counts before and after, for programs (CSV, JSON) and for people (SVG).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/image_report.h"
#include "kernels/pixel.h"

namespace imgpipe {

// The counts of one image: kBins for each colour plane, plane after plane.
struct Counts {
  std::vector<std::uint64_t> values;

  [[nodiscard]] int planes() const { return static_cast<int>(values.size()) / kBins; }
  [[nodiscard]] std::uint64_t at(int plane, int bin) const {
    return values[static_cast<std::size_t>(plane * kBins + bin)];
  }
};

struct HistogramPair {
  std::string title;
  std::string before_label;  // which image was counted
  std::string after_label;
  Counts before;
  Counts after;
  std::vector<ContrastRange> ranges;  // marked in `before`; empty where nothing was stretched
};

// The file's text by the ending of `path`: .csv, .json or .svg.
[[nodiscard]] std::string histogram_text(const HistogramPair& pair, const std::string& path);
[[nodiscard]] std::string histogram_svg(const HistogramPair& pair);

}  // namespace imgpipe
