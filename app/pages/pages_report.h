// The results of the pages of one input: totals for people, and an entry per page for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/histogram_file.h"
#include "app/report/image_report.h"

namespace imgpipe {

struct PageEntry {
  std::int64_t number = 1;
  std::string output;  // empty: in a stack
  Shape input{0, 0, 1}, written{0, 0, 1};
  int bits_per_sample = 8;
  std::int64_t output_bytes = 0;
  FileHashes output_hashes{};     // unless it is in a stack
  std::vector<AlsoFacts> also{};  // likewise
  double wall_ms = 0;
  std::vector<ContrastRange> ranges{};
  std::vector<OutsideCounts> outside{};
  bool identical = true;
};

// Returns lines for people: the smallest and largest lo and hi of each contrast step.
[[nodiscard]] std::vector<std::string> range_lines(const std::vector<PageEntry>& pages);

// Like image_report_json(), with "pages". Its rows are totals over the pages, and it has no spans.
[[nodiscard]] std::string pages_report_json(const ImageReport& sums, const RunFacts& facts,
                                            const std::vector<PageEntry>& pages,
                                            const std::vector<StageRequest>& series);
[[nodiscard]] std::string pages_schema();

// Adds a page's counts. Throws Error(usage) naming the page if its channels or bits differ.
void add_counts(HistogramPair& sum, const HistogramPair& page, std::int64_t number);

}  // namespace imgpipe
