// Selects a report's format by the ending of its name; "-" is JSON on stdout.
#pragma once

#include <algorithm>
#include <string>

#include "app/process_options/process_options.h"
#include "images/files/file.h"

namespace imgpipe {

[[nodiscard]] inline bool is_json_report(const std::string& name) {
  return name == kStandardStream || name.ends_with(".json");
}

// Returns true if a report or another result goes to stdout, so that the table must go to stderr.
[[nodiscard]] inline bool reports_to_stdout(const ProcessOptions& options) {
  const ReportOptions& reports = options.reports;
  return std::ranges::find(reports.files, kStandardStream) != reports.files.end() ||
         reports.trace_file == kStandardStream || reports.histogram_file == kStandardStream ||
         reports.failed_file == kStandardStream ||
         (options.preset && options.preset->file == kStandardStream);
}

}  // namespace imgpipe
