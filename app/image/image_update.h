// --update for one input: an image or its pages.
#pragma once

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"

namespace imgpipe {

class ImageUpdate {
 public:
  // Throws Error(usage) for stdin, stdout and other paths that are not regular files.
  explicit ImageUpdate(const ProcessOptions& options);

  // True if no work is needed: the output is up to date and all other requested results exist.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] UpdateState state() const { return file_.update->state; }
  // True if the outputs may be replaced whatever they contain.
  [[nodiscard]] bool is_stamped() const { return is_stamped_; }
  // Records the output; call after a successful run.
  void stamp() const;

 private:
  const ProcessOptions& options_;
  BatchFile file_;
  bool is_stamped_ = false;
};

}  // namespace imgpipe
