// The report of one image as a page for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/html/picture.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/run_place.h"

namespace imgpipe {

// What the page has beside the report.
struct ReportPage {
  RunPlace place;
  std::vector<std::string> warnings;
  std::int64_t peak_memory_bytes = 0;
  // The pictures, or why there is none.
  struct Side {
    std::optional<Picture> picture{};
    std::string why_none;
  };
  Side input{}, output{};
  std::optional<HistogramPair> histogram{};  // where a stage counts
};

// The whole page (app/html/page.h): what ran, pictures, times of rows and totals, what ran when, histogram.
[[nodiscard]] std::string image_report_html(const ImageReport& report, const RunFacts& facts,
                                            const ReportPage& page);

}  // namespace imgpipe
