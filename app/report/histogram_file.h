// --histogram: the counts before and after, for programs (CSV, JSON) and for people (SVG).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/image_report.h"
#include "images/plane.h"

namespace imgpipe {

// The counts of one image: of each colour plane one for every value of its samples, plane after plane.
struct Counts {
  std::vector<std::uint64_t> values;
  Sample sample = Sample::u8;

  [[nodiscard]] int bins() const { return imgpipe::bins(sample); }
  [[nodiscard]] int planes() const { return static_cast<int>(values.size()) / bins(); }
  [[nodiscard]] std::uint64_t at(int plane, int bin) const {
    return values[static_cast<std::size_t>(plane * bins() + bin)];
  }
};

// "red", "green", "blue"; or "grey".
[[nodiscard]] std::vector<std::string> plane_names(const Counts& counts);

struct HistogramPair {
  std::string title;
  std::string before_label;  // which image was counted
  std::string after_label;
  Counts before;
  Counts after;                       // its samples may have other bits
  std::vector<ContrastRange> ranges;  // marked in `before`; empty where nothing was stretched
};

// The file's text by the ending of `path`: .csv, .json or .svg.
[[nodiscard]] std::string histogram_text(const HistogramPair& pair, const std::string& path);
[[nodiscard]] std::string histogram_schema();
[[nodiscard]] std::string histogram_svg(const HistogramPair& pair);

}  // namespace imgpipe
