// The files a batch writes in addition to images: .json, .ndjson and .csv reports, the trace, --failed-out.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/batch/batch_totals.h"
#include "app/batch/ndjson_report.h"
#include "app/report/trace_file.h"

namespace imgpipe {

class BatchReportFiles {
 public:
  explicit BatchReportFiles(const ProcessOptions& options);

  // Call before any work, with the number of images in `totals`. Creates OUTPUT if `needs_output` or if a
  // report is in it, checks that all files can be written, and opens growing files. All functions throw
  // Error(output).
  void open(bool needs_output, const BatchTotals& totals);
  void add_skipped(const std::deque<BatchFile>& files, const std::string& reason);
  void add_problems(const std::vector<PathProblem>& problems);
  void add(const BatchFile& file, const BatchResult& result);
  // Reports an image that was done but whose output is gone.
  void add_lost(const BatchFile& file, const std::string& reason);
  void add_not_done(const BatchFile& file, const std::string& reason);
  // Marks an input as done in lists of failures. Only needed for archives, whose images are reported.
  void settle(const BatchFile& file);

  void flush();

  // Call at the end, before close(): writes the .json reports and --failed-out.
  void write_whole_files(const BatchTotals& totals) const;
  void write_failed(const BatchTotals& totals) const;
  void close(const BatchTotals& totals, const std::vector<const BatchFile*>& not_done);

 private:
  void claim(const std::string& file) const;
  void open_trace();
  [[nodiscard]] std::vector<std::string> failed_names(const BatchTotals& totals) const;
  void merge_failed(const BatchTotals& totals) const;

  const ProcessOptions& options_;
  // `list_`: the names in the list of --files-from if --failed-out replaces it. `settled_`: the names that
  // are done or skipped; also stored for a shard, because --failed-out may contain names of other shards.
  std::optional<std::vector<std::string>> list_;
  std::unordered_set<std::string> settled_;
  std::vector<std::unique_ptr<NdjsonReport>> lines_;  // one for each .ndjson and .csv report
  std::unique_ptr<TraceFile> trace_;
};

}  // namespace imgpipe
