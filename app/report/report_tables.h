// A report's numbers as tables for HTML pages.
#pragma once

#include <span>

#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/result_table.h"

namespace imgpipe {

// Used for JSON, CSV and tables.
void add_time_row(Fields& fields, const ReportRow& row);
void add_span(Fields& fields, const Span& span);

[[nodiscard]] ResultTable row_table(const ImageReport& report);
// Returns the first 2,000 spans; a note counts the others.
[[nodiscard]] ResultTable span_table(std::span<const Span> spans);
// Returns a row per value of 8 bits; for 16 bits, a row per value of the upper 8 bits.
[[nodiscard]] ResultTable histogram_table(const HistogramPair& pair);

}  // namespace imgpipe
