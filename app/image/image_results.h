// Results of a finished image other than its file: images of stages, histograms, ranges, the comparison with
// the reference, and the HTML page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/html/image_report_html.h"
#include "app/process_options/process_options.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "pipeline/compare.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/plan.h"

namespace imgpipe {

// A file of --keep-stages: DIR/03_contrast.png and so on, numbered by step.
struct StageFile {
  std::size_t step;
  std::string path;
};
[[nodiscard]] std::vector<StageFile> stage_files(const std::string& directory, const Plan& plan);
// The job must have run with Job::keep_outputs. Throws Error(output), Error(memory).
void write_stages(const ProcessOptions& options, const Outcome& outcome, const Mark& mark);

// Throws Error(usage) if --histogram is given and no step counts.
void check_histogram(const ProcessOptions& options, const Plan& plan);
// Returns the counts before and after; requires Job::keep_pixels. `name` of the input is for people.
[[nodiscard]] HistogramPair histogram_pair(const std::string& name, const Outcome& outcome,
                                           const std::vector<ContrastRange>& ranges);
void write_histogram(const ProcessOptions& options, const HistogramPair& pair);

struct Comparison {
  Outcome reference;
  std::vector<Difference> differences{};
  std::optional<Difference> decoded{};  // from the image that the format's library decodes
  double library_decode_ms = 0;
};

// Runs the sequential reference on the same decoded image, timed as medians of at most 3 passes. Requires
// Job::keep_source and Job::keep_outputs. Also compares the image with that of the format's library.
[[nodiscard]] Comparison compare_with_reference(const ProcessOptions& options, const ImageJob& image,
                                                const Outcome& outcome);

// Returns true if an HTML report is requested.
[[nodiscard]] bool has_html_report(const ProcessOptions& options);
// Sets what a job must keep for the HTML report: files are read again, but pixels from or to a pipe are kept.
void keep_for_html_report(const ProcessOptions& options, Job& job);

// Call after all timed work. Reads the images again from their files in bands of rows; if that fails, the
// page says why.
[[nodiscard]] ReportPage make_report_page(const ProcessOptions& options, const Outcome& outcome,
                                          const std::vector<ContrastRange>& ranges,
                                          std::vector<std::string> warnings);

}  // namespace imgpipe
