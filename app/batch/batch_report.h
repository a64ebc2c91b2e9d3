// The report of a batch at its end: the table for people, and the .json for programs. A line an image:
// app/batch/ndjson_report.h.
#pragma once

#include <string>
#include <string_view>

#include "app/batch/batch_totals.h"
#include "app/options/options.h"
#include "images/error.h"

namespace imgpipe {

// `list_failures`: where they have not been shown yet, one by one as they came.
[[nodiscard]] std::string batch_table(const BatchTotals& totals, bool list_failures);
[[nodiscard]] std::string batch_json(const BatchTotals& totals, const ProcessOptions& options);

// "input": the kind of a failure, as every report of a batch names it.
[[nodiscard]] std::string_view kind_of_error(ErrorKind kind);

}  // namespace imgpipe
