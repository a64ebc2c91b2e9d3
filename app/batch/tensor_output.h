// The output of a batch with --tensor: one file with a row for each image that is done.
#pragma once

#include <deque>

#include "app/batch/batch_totals.h"
#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/tensor_file.h"

namespace imgpipe {

class TensorOutput {
 public:
  // Both must outlive this.
  TensorOutput(const ProcessOptions& options, const std::deque<BatchFile>& files);

  void consume_rows(BatchSettings& settings);
  // Whether the images seen so far make tensors of different shapes, so that the batch should end.
  [[nodiscard]] bool has_mixed_shapes() const { return file_.has_mixed_shapes(); }
  // Completes the file and adds its facts to the totals. Returns why it was not written; empty: it was.
  // Throws Error(output) or Error(usage). Call it when no image is in progress.
  [[nodiscard]] std::string finish(BatchTotals& totals);

 private:
  const ProcessOptions& options_;
  TensorFile file_;
};

}  // namespace imgpipe
