// The numbers of a report as tables of a page.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/result_table.h"

namespace imgpipe {

// Rows and totals; the keys are those of the JSON. The text table leaves out the share of the whole.
inline constexpr std::size_t kShareColumn = 2;
[[nodiscard]] ResultTable row_table(const ImageReport& report);
// The first 2,000; a note says how many more there are.
[[nodiscard]] ResultTable span_table(std::span<const Span> spans);
// A row a value of 8 bits, or of 16 bits the 256 values that begin with it.
[[nodiscard]] ResultTable histogram_table(const HistogramPair& pair);

}  // namespace imgpipe
