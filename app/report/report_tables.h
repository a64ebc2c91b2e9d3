// The numbers of a report as tables of a page.
#pragma once

#include <span>

#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/result_table.h"

namespace imgpipe {

// Of JSON, CSV and tables.
void add_time_row(Fields& fields, const ReportRow& row);
void add_span(Fields& fields, const Span& span);

// Rows and totals.
[[nodiscard]] ResultTable row_table(const ImageReport& report);
// The first 2,000; a note says how many more there are.
[[nodiscard]] ResultTable span_table(std::span<const Span> spans);
// A row a value of 8 bits, or of 16 bits the 256 values that begin with it.
[[nodiscard]] ResultTable histogram_table(const HistogramPair& pair);

}  // namespace imgpipe
