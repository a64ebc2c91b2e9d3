// The report of one image as an HTML page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/html/picture.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/run_context.h"

namespace imgpipe {

// The parts of the page that are not in the report.
struct ReportPage {
  RunContext context;
  std::vector<std::string> warnings;
  std::int64_t peak_memory_bytes = 0;
  struct Side {
    std::optional<Picture> picture{};
    std::string missing_reason;
  };
  Side input{}, output{};
  std::optional<HistogramPair> histogram{};  // if a stage counts
};

// Returns the whole page (app/html/page.h): facts, pictures, times, timelines and the histogram.
[[nodiscard]] std::string image_report_html(const ImageReport& report, const RunFacts& facts,
                                            const ReportPage& page);

}  // namespace imgpipe
