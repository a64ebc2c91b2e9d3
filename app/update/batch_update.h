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

// Judges files (BatchFile::update). Throws Error(usage) where another file is in the place of
// the stamps, and as read_stamps() does.
void judge_updates(const ProcessOptions& options, BatchFiles& found, bool is_batch);

// Notes what is made. Throws Error(output).
class UpdateStamps {
 public:
  // The directory of the stamps is there. `options` stay where they are.
  UpdateStamps(const ProcessOptions& options, bool is_batch);
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
