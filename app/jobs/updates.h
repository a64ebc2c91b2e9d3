// --update: which outputs are up to date, and stamps of those that are made.
#pragma once

#include <string>
#include <vector>

#include "app/files/growing_file.h"
#include "app/jobs/batch_files.h"
#include "app/process_options/options_digest.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"

namespace imgpipe {

// The file of stamps: in the directory OUTPUT of a batch, or in the directory of a single OUTPUT.
[[nodiscard]] std::string stamp_file(const ProcessOptions& options, bool is_batch);

// The files that are made of an input: several where each page has one.
[[nodiscard]] std::vector<std::string> outputs_of(const ProcessOptions& options, const BatchFile& file);

// Judges files (BatchFile::update). Throws Error(usage) where another file is in the place of
// the stamps, and as read_stamps() does.
void judge_updates(const ProcessOptions& options, BatchFiles& found, bool is_batch);

// Records outputs that were written. Throws Error(output).
class UpdateStamps {
 public:
  // The directory of the stamps is there. `options` stay where they are.
  UpdateStamps(const ProcessOptions& options, bool is_batch);
  // The outputs of `file`, which were just written.
  void add(const BatchFile& file);
  void flush() { file_.flush(); }
  void close() { file_.close(); }

 private:
  const ProcessOptions& options_;
  OptionsDigests digests_;
  StampNames names_;
  GrowingFile file_;
};

}  // namespace imgpipe
