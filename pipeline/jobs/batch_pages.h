// The inputs of a batch that go through with their pages (--pages): a worker takes one input after the other,
// page by page, through an engine of its own. Of every input no more than a page is held, so that a batch
// needs the memory of one page per worker. There are no lanes: on a CUDA device a worker's engine has it to
// itself.
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
  // `settings` stays where it is. `workers` share what images may have.
  BatchPages(const BatchSettings& settings, int workers, Timeline::Clock::time_point origin)
      : settings_(settings), workers_(workers), origin_(origin) {}

  // Of each worker's engine.
  [[nodiscard]] int threads() const { return std::max(1, settings_.threads / workers_); }
  // All of an input's pages; `result` is the input's, as far as it came. Throws Error with the input's name.
  // Thread-safe.
  void run(const BatchItem& item, const std::string& track, Engine& engine, BatchResult& result);

 private:
  void take(const ItemDone& page, const PagesUse& use, PageNotes& said, BatchResult& result) const;
  void remove_stale_files(const InputJob& input);

  const BatchSettings& settings_;
  const int workers_;
  const Timeline::Clock::time_point origin_;
  std::mutex mutex_;  // of stale_
  StaleOutputs stale_;
};

}  // namespace imgpipe
