// What a batch writes besides images: its .json, .ndjson and .csv reports, the trace, the list of the failed.
#pragma once

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

  // Before any work: makes OUTPUT where `needs_output` or a report lies in it, checks that every file can be
  // written, and opens those that grow. `totals` knows how many images there are. Throws Error(output), as
  // all here, with the path.
  void open(bool needs_output, const BatchTotals& totals);
  void add_skipped(const std::vector<BatchFile>& files, const std::string& reason);
  void add_problems(const std::vector<PathProblem>& problems);
  void add(const BatchFile& file, const BatchResult& result);
  // What was done, and its output is gone.
  void add_lost(const BatchFile& file);

  // To be called now and then.
  void flush();

  // At the end: the files that are written whole, then what is open. `not_done`: what the batch did not come
  // to.
  void write_whole_files(const BatchTotals& totals) const;
  // Of these, --failed-out.
  void write_failed(const BatchTotals& totals) const;
  void close(const BatchTotals& totals, const std::vector<const BatchFile*>& not_done);

 private:
  void claim(const std::string& file) const;
  void open_trace();
  [[nodiscard]] std::vector<std::string> failed_names(const BatchTotals& totals) const;
  void merge_failed(const BatchTotals& totals) const;
  void settle(const BatchFile& file);

  const ProcessOptions& options_;
  // Where --failed-out is the list of --files-from itself: that list, and what of it is done or skipped. Also
  // of a shard, whose list may hold names of the others.
  std::optional<std::vector<std::string>> list_;
  std::unordered_set<std::string> settled_;
  std::vector<std::unique_ptr<NdjsonReport>> lines_;  // of each .ndjson and .csv report
  std::unique_ptr<TraceFile> trace_;
};

}  // namespace imgpipe
