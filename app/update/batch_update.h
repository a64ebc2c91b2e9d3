// --update of a batch, and of one image.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/batch/batch_files.h"
#include "app/files/growing_file.h"
#include "app/process_options/options_digest.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"

namespace imgpipe {

// The file of stamps: in the folder OUTPUT of a batch, in that of OUTPUT where it is one image.
[[nodiscard]] std::string stamp_file(const ProcessOptions& options, bool is_batch);

// Judges the files of a batch (BatchFile::update). Throws Error(usage) where another file is in the place of
// the stamps, and as read_stamps() does.
void judge_updates(const ProcessOptions& options, BatchFiles& found);

// Notes what a batch makes. Throws Error(output).
class BatchStamps {
 public:
  // OUTPUT is there. `options` stay where they are.
  explicit BatchStamps(const ProcessOptions& options);
  // What was just made.
  void add(const BatchFile& file);
  void flush() { file_.flush(); }
  void close() { file_.close(); }

 private:
  const ProcessOptions& options_;
  OptionsDigests digests_;
  StampNames names_;
  GrowingFile file_;
};

// One image, or its pages.
class ImageUpdate {
 public:
  // Throws Error(usage) where stdin, stdout or what is no regular file has no place for it.
  explicit ImageUpdate(const ProcessOptions& options);

  // Nothing is to be done: the output is up to date, and no result beside it is wanted that is not there.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] UpdateState state() const { return state_; }
  // The output may be replaced, whatever it holds.
  [[nodiscard]] bool is_stamped() const { return is_stamped_; }
  // Behind the run.
  void stamp() const;

 private:
  [[nodiscard]] UpdateItem item() const;

  const ProcessOptions& options_;
  BatchFile file_;
  std::string digest_;
  UpdateState state_ = UpdateState::no_output;
  bool is_stamped_ = false;
};

}  // namespace imgpipe
