// The .ndjson report of a batch: a line an image, in the order of their ends. All lines have the same keys,
// in the same order; what is not known is null. The first key, whose value is the version, tells such a file
// from others. The .csv report has the same: a head of the keys, and a line an image, where null is nothing.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include "app/batch/batch_totals.h"
#include "app/files/growing_file.h"
#include "app/process_options/options_digest.h"
#include "app/report/json_head.h"

namespace imgpipe {

// What every line says of its run.
struct NdjsonRun {
  std::size_t shard_images = 0;  // that it found, with those it skips; of a shard: its own
  std::size_t batch_images = 0;  // of all shards
};

struct NdjsonLine;

class NdjsonReport {
 public:
  // Makes the file, of the kind that its ending says, or empties it. With `go_on` (--skip-existing, --update,
  // --shard) a report that is there is kept and grows, because it is an earlier run's or other shards are
  // writing it; a line that a killed run left half written goes. `options` stay where they are. Throws
  // Error(output), as all here.
  NdjsonReport(const std::string& path, bool go_on, const NdjsonRun& run, const ProcessOptions& options);

  void add_done_or_failed(const BatchFile& file, const BatchResult& result);
  void add_lost(const BatchFile& file);
  // Nothing for an image that an earlier run's last word says is done: the last line of an image is what has
  // become of it.
  void add_skipped(const BatchFile& file, const std::string& reason);
  void add_not_done(const BatchFile& file, const std::string& reason);
  void add_problem(const PathProblem& problem);
  // What could not be written at once because another process was writing.
  void flush() { file_.flush(); }
  void close() { file_.close(); }

 private:
  [[nodiscard]] NdjsonLine line_of(const BatchFile& file, const char* status);
  void add(const NdjsonLine& line);
  void add_with_reason(const BatchFile& file, const char* status, const std::string& reason);

  const bool csv_;
  const NdjsonRun run_;
  const RunHead head_;
  OptionsDigests digests_;
  const Json empty_;                          // a line that knows of the run only
  std::unordered_set<std::string> finished_;  // by an earlier run: inputs, as the lines have them
  bool kept_ = false;                         // an earlier run's lines
  GrowingFile file_;
};

[[nodiscard]] std::string batch_line_schema();

}  // namespace imgpipe
