// Results of a finished image besides its file: images of stages, histograms, ranges, the comparison with the
// reference, and the page of a run.
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
[[nodiscard]] std::vector<StageFile> stage_files(const std::string& folder, const Plan& plan);
// Of a job with Job::keep_outputs. Throws Error(output), Error(memory).
void write_stages(const ProcessOptions& options, const Outcome& outcome, const Mark& mark);

// Throws Error(usage) where --histogram is given and no step counts.
void check_histogram(const ProcessOptions& options, const Plan& plan);
// The counts before and after, of a job with Job::keep_pixels. `name`: of the input, for people.
[[nodiscard]] HistogramPair histogram_pair(const std::string& name, const Outcome& outcome,
                                           const std::vector<ContrastRange>& ranges);
// By --histogram.
void write_histogram(const ProcessOptions& options, const HistogramPair& pair);

struct Comparison {
  Outcome reference;
  std::vector<Difference> differences{};
  std::optional<Difference> decoded{};  // against the format's library
  double library_decode_ms = 0;
};

// The sequential reference over the same decoded image, of a job with Job::keep_source and Job::keep_outputs.
// Its times are medians of at most 3 passes. Where another decoder than the format's library may have made
// the decoded image, that is compared too.
[[nodiscard]] Comparison compare_with_reference(const ProcessOptions& options, const ImageJob& image,
                                                const Outcome& outcome);

// Whether a page was requested.
[[nodiscard]] bool wants_page(const ProcessOptions& options);
// Sets what a job must keep for it: files are read again, pixels from or to a pipe are kept.
void keep_for_page(const ProcessOptions& options, Job& job);

// Call after everything that is timed. The images shown are read from the files, row by row; where one cannot
// be read again, the page says why.
[[nodiscard]] ReportPage make_report_page(const ProcessOptions& options, const Outcome& outcome,
                                          const std::vector<ContrastRange>& ranges,
                                          std::vector<std::string> warnings);

}  // namespace imgpipe
