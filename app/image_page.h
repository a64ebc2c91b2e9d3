// --report FILE.html: what the page of a run needs beside its report.
#pragma once

#include <string>
#include <vector>

#include "app/process_options/process_options.h"
#include "app/report/image_report_html.h"
#include "pipeline/engine.h"

namespace imgpipe {

// Whether a page was asked for.
[[nodiscard]] bool wants_page(const ProcessOptions& options);
// What a job must give back for it: files are read again, what came or went through a pipe is kept.
void keep_for_page(const ProcessOptions& options, Job& job);

// Behind everything that is timed. The pictures are made of the files, row by row; where one cannot be read
// again, the page says why.
[[nodiscard]] ReportPage make_report_page(const ProcessOptions& options, const Outcome& outcome,
                                          const std::vector<ContrastRange>& ranges,
                                          std::vector<std::string> warnings);

}  // namespace imgpipe
