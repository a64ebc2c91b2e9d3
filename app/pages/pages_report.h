// What came of the pages of one input: sums for people, and a row a page for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/histogram_file.h"
#include "app/report/image_report.h"

namespace imgpipe {

struct PageEntry {
  std::int64_t number = 1;
  std::string output;  // its own file; empty: it is in the stack
  Shape input{0, 0, 1}, written{0, 0, 1};
  int bits_per_sample = 8;
  std::int64_t output_bytes = 0;
  double wall_ms = 0;
  std::vector<ContrastRange> ranges{};
  bool identical = true;
};

// Lines for people: of each contrast its least and largest lo and hi.
[[nodiscard]] std::vector<std::string> range_lines(const std::vector<PageEntry>& pages);

// As image_report_json(), with "pages": its rows are sums over them, and it has no spans.
[[nodiscard]] std::string pages_report_json(const ImageReport& sums, const RunFacts& facts,
                                            const std::vector<PageEntry>& pages,
                                            const std::vector<StageRequest>& series);
[[nodiscard]] std::string pages_schema();

// Counts of several pages, added up. Throws Error(usage), naming the page, where they do not have the same
// channels and bits as those before.
void add_counts(HistogramPair& sum, const HistogramPair& page, std::int64_t number);

}  // namespace imgpipe
