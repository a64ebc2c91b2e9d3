// What is made of a finished image beside its file: stages' images, histograms, ranges.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/process_options/process_options.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "pipeline/engine.h"
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
// Throws Error(output), with the path.
void make_result_folder(const std::string& path, OutputSync* sync);

// The step whose counts --histogram calls "before": the one the first contrast used, else the first; as many
// as there are steps where none counts.
[[nodiscard]] std::size_t before_step(const Plan& plan);
// Throws Error(usage) where --histogram is given and no step counts.
void check_histogram(const ProcessOptions& options, const Plan& plan);
// The counts before and after, of a job with Job::keep_pixels. `name`: of the input, for people.
[[nodiscard]] HistogramPair histogram_pair(const std::string& name, const Outcome& outcome,
                                           const std::vector<ContrastRange>& ranges);
// The same without what is after, of any job.
[[nodiscard]] HistogramPair histogram_before(const std::string& name, const Outcome& outcome,
                                             const std::vector<ContrastRange>& ranges);
// Counts the samples of an image's colour planes, plane after plane, by the stages' own reference.
[[nodiscard]] Counts count_image(const ConstHostView& pixels);
// By --histogram.
void write_histogram(const ProcessOptions& options, const HistogramPair& pair);

}  // namespace imgpipe
