// The final report of a batch: table for people, .json for programs. Lines per image: ndjson_report.h.
#pragma once

#include <string>

#include "app/batch/batch_totals.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

class Fields;

// "200 images: 198 done, 0 skipped, 2 failed, in 2.36 s"
[[nodiscard]] std::string batch_head(const BatchTotals& totals);
// Adds a part to the JSON report or to the table.
void add_part(Fields& fields, const BatchTotals::PartBusy& part);
// Names the part that took the most time.
[[nodiscard]] std::string bottleneck(const BatchTotals& totals);
// Failures were already logged one by one; the table says which files list them.
[[nodiscard]] std::string batch_table(const BatchTotals& totals, const ProcessOptions& options);
[[nodiscard]] std::string batch_json(const BatchTotals& totals, const ProcessOptions& options);
[[nodiscard]] std::string batch_schema();

}  // namespace imgpipe
