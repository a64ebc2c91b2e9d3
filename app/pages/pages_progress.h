// Progress over the pages of one input, and the summary line if a signal ends the run.
#pragma once

#include <cstddef>

#include "app/progress.h"
#include "app/signals.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class PagesProgress {
 public:
  // The run began at `start`. `passes`: one over all pages for each contrast step with range=series, and one
  // that writes. `input` must outlive this object.
  PagesProgress(const InputJob& input, bool quiet, std::size_t passes, Timeline::Clock::time_point start);

  void begin_pass();
  // Counts a page in a pass before the last; starts the next pass after the last page.
  void count_page(const ImageHeader& page);
  // Updates the line that is written if a signal ends the run: finished pages stay.
  void note_written_page();
  void note_finished_page(const ImageHeader& page);
  void clear() { progress_.clear(); }

 private:
  void show();
  void set_signal_line();

  const InputJob& input_;
  const bool quiet_;
  const std::size_t passes_;
  const Timeline::Clock::time_point start_;
  Progress progress_;
  RunCounts pass_;
  std::size_t pass_number_ = 0, written_ = 0;
  Timeline::Clock::time_point pass_start_;
  SignalLine signal_line_;
};

}  // namespace imgpipe
