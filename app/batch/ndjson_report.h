// The .ndjson report of a batch: one line per image, in order of completion. All lines have the same keys in
// the same order; unknown values are null. The first key, whose value is the version, identifies such a file.
// A .csv report has the keys as its header, one line per image, and an empty field for null.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include "app/batch/batch_totals.h"
#include "app/files/growing_file.h"
#include "app/process_options/options_digest.h"
#include "app/report/json_head.h"

namespace imgpipe {

// The values that every line repeats about its run.
struct NdjsonRun {
  RunHead head;                  // all reports of the run have its date
  std::size_t shard_images = 0;  // found, including skipped ones; for a shard: its own; 0: not known yet
  std::size_t batch_images = 0;  // of all shards
};

struct NdjsonLine;

class NdjsonReport {
 public:
  // Creates or truncates the file; its ending selects the format. With `go_on` (--skip-existing, --update,
  // --shard) an existing report is kept and extended: it comes from an earlier run, or other shards are
  // writing it. An incomplete last line of a killed run is removed. `options` must outlive this object. Like
  // all functions here, throws Error(output).
  NdjsonReport(const std::string& path, bool go_on, const NdjsonRun& run, const ProcessOptions& options);

  void add_done_or_failed(const BatchFile& file, const BatchResult& result);
  void add_lost(const BatchFile& file, const std::string& reason);
  // Adds nothing if the image's last line from an earlier run says done or skipped: an image's last line is
  // its status.
  void add_skipped(const BatchFile& file, const std::string& reason);
  void add_not_done(const BatchFile& file, const std::string& reason);
  void add_problem(const PathProblem& problem);
  // Writes lines that were held back because another process was writing.
  void flush() { file_.flush(); }
  void close() { file_.close(); }

 private:
  [[nodiscard]] NdjsonLine line_of(const BatchFile& file, const char* status);
  void add(const NdjsonLine& line);
  void add_with_reason(const BatchFile& file, const char* status, const std::string& reason);

  const bool csv_;
  const NdjsonRun run_;
  const ProcessOptions& options_;
  OptionsDigests digests_;
  const Json empty_;                          // a line with the values of the run only
  std::unordered_set<std::string> finished_;  // inputs that an earlier run's lines report as finished
  bool kept_ = false;                         // the file holds an earlier run's lines
  GrowingFile file_;
};

[[nodiscard]] std::string batch_line_schema();

}  // namespace imgpipe
