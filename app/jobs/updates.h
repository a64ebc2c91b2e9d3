// --update: determines which outputs are up to date, and records those that are written.
#pragma once

#include <string>
#include <vector>

#include "app/files/growing_file.h"
#include "app/jobs/batch_files.h"
#include "app/process_options/options_digest.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"

namespace imgpipe {

// Returns the stamp file: in the directory OUTPUT of a batch, or in that of a single OUTPUT.
[[nodiscard]] std::string stamp_file(const ProcessOptions& options, bool is_batch);

// Returns the outputs of an input: several if each page has one, or with --also.
[[nodiscard]] std::vector<std::string> outputs_of(const ProcessOptions& options, const BatchFile& file);

// Sets BatchFile::update. Throws like read_stamps(), and Error(usage) if the stamp file's name is taken.
void determine_updates(const ProcessOptions& options, BatchFiles& found, bool is_batch);

// Records outputs that were written. Throws Error(output).
class UpdateStamps {
 public:
  // The stamp directory must exist. `options` must outlive this object.
  UpdateStamps(const ProcessOptions& options, bool is_batch);
  // Requires BatchFile::update.
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
