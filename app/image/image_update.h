// --update of one input.
#pragma once

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"

namespace imgpipe {

// One image, or its pages.
class ImageUpdate {
 public:
  // Throws Error(usage) for stdin, stdout and other files that are not regular.
  explicit ImageUpdate(const ProcessOptions& options);

  // No work is needed: the output is up to date, and all other requested results exist.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] UpdateState state() const { return file_.update; }
  // The output may be replaced, whatever it holds.
  [[nodiscard]] bool is_stamped() const { return is_stamped_; }
  // After the run.
  void stamp() const;

 private:
  const ProcessOptions& options_;
  BatchFile file_;
  bool is_stamped_ = false;
};

}  // namespace imgpipe
