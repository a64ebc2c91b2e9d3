// The report of a batch at its end: the table for people, and the .json for programs. A line an image:
// app/batch/ndjson_report.h.
#pragma once

#include <string>
#include <string_view>

#include "app/batch/batch_totals.h"
#include "app/process_options/process_options.h"
#include "images/error.h"

namespace imgpipe {

// "200 images: 198 done, 0 skipped, 2 failed, in 2.36 s"
[[nodiscard]] std::string batch_head(const BatchTotals& totals);
// Failures have been told one by one as they came: here is where else they are.
[[nodiscard]] std::string batch_table(const BatchTotals& totals, const ProcessOptions& options);
[[nodiscard]] std::string batch_json(const BatchTotals& totals, const ProcessOptions& options);

// "input": the kind of a failure, as every report of a batch names it.
[[nodiscard]] std::string_view kind_of_error(ErrorKind kind);

}  // namespace imgpipe
