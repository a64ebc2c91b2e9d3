// Inputs of a batch without lanes (BatchSettings::engine_per_worker), such as those that are processed page
// by page (--pages). A worker processes one input at a time, with its own engine; with CUDA, each engine has
// its own device. Only one page of an input is in memory, so a batch needs the memory of one page per worker.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>

#include "images/files/temporary_file.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/input_job.h"

namespace imgpipe {

class BatchPages {
 public:
  // `settings` must outlive this. `workers` share the memory for images.
  BatchPages(const BatchSettings& settings, int workers, Timeline::Clock::time_point origin)
      : settings_(settings), workers_(workers), origin_(origin) {}

  // Threads of each worker's engine.
  [[nodiscard]] int threads() const { return std::max(1, settings_.threads / workers_); }
  // Processes an input's pages; `result` covers those done. Throws Error with the input's name. Thread-safe.
  void run(const BatchItem& item, const std::string& track, Engine& engine, BatchResult& result);

 private:
  void take(const FinishedItem& page, const PageConsumer& use, PageNotes& said, BatchResult& result) const;
  void remove_stale_files(const InputJob& input);

  const BatchSettings& settings_;
  const int workers_;
  const Timeline::Clock::time_point origin_;
  std::mutex mutex_;  // of stale_
  StaleTemporaryFiles stale_;
};

}  // namespace imgpipe
