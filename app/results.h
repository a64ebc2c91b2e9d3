// The files besides images that a run is to write: reports, lists, histograms, traces, stages' images. What
// is wrong with them is found before any work.
#pragma once

#include <string>
#include <vector>

#include "app/inputs.h"
#include "app/options.h"

namespace imgpipe {

struct ResultFile {
  std::string option;  // "--report"
  std::string path;
};
[[nodiscard]] std::vector<ResultFile> result_files(const ProcessOptions& options);

// Of a batch. Throws Error(usage) when two results are one file, or when one is an input, an output, or the
// list of names (which --failed-out may replace). Paths are the same when they lead to one place: ./a and a,
// links followed.
void check_results(const ProcessOptions& options, const BatchFiles& files);

// True when a result lies right in a folder, which need not be there yet.
[[nodiscard]] bool result_in_folder(const std::string& folder, const std::string& path);

// Throws Error(usage) for a result that would replace a file that it may not (app/replaceable.h).
// `files`: of a batch.
void check_results_replaceable(const ProcessOptions& options, const std::vector<BatchFile>& files = {});

// Throws what writing a result would before its first byte: Error(output), with the path.
void check_result_writable(const std::string& path);
// The same for OUTPUT and every result of one image, and for the folder of --keep-stages, which need not be
// there yet.
void check_results_writable(const ProcessOptions& options);

}  // namespace imgpipe
