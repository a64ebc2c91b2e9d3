// Progress over the pages of one input, and what a signal says of it.
#pragma once

#include <cstddef>

#include "app/progress.h"
#include "app/signals.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class PagesProgress {
 public:
  // Of a run that began at `start`. `passes`: over all pages, one for each contrast step with range=series,
  // then the one that writes. `input` stays where it is.
  PagesProgress(const InputJob& input, bool quiet, std::size_t passes, Timeline::Clock::time_point start);

  void begin_pass();
  // In a pass before the last: a page; beyond the last page another pass begins.
  void page_is_counted(const ImageHeader& page);
  // A signal ends the run at once, and finished pages stay: its line counts them.
  void page_is_written();
  void page_is_done(const ImageHeader& page);
  // Removes the bar, so that other text can be written.
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
