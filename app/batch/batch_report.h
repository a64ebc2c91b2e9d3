// The report of a batch at its end: the table for people, and the .json for programs. A line an image:
// app/batch/ndjson_report.h.
#pragma once

#include <string>

#include "app/batch/batch_totals.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

class Fields;

// "200 images: 198 done, 0 skipped, 2 failed, in 2.36 s"
[[nodiscard]] std::string batch_head(const BatchTotals& totals);
// Of JSON and of the table.
void add_part(Fields& fields, const BatchTotals::PartBusy& part);
// What took the most time.
[[nodiscard]] std::string bottleneck(const BatchTotals& totals);
// Failures have been told one by one as they came: here is where else they are.
[[nodiscard]] std::string batch_table(const BatchTotals& totals, const ProcessOptions& options);
[[nodiscard]] std::string batch_json(const BatchTotals& totals, const ProcessOptions& options);
[[nodiscard]] std::string batch_schema();

}  // namespace imgpipe
