// A batch whose inputs are archives. Its totals and reports cover the images in them, and archives and other
// members only if they fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/batch/batch_totals.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/selection.h"
#include "app/process_options/process_options.h"
#include "app/signals.h"
#include "pipeline/jobs/archive_job.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

class ArchiveBatch {
 public:
  struct Events {
    // Called for each image, and for each archive or other member that failed. A failed file lives as long as
    // this object.
    std::function<void(const BatchResult&, const BatchFile&)> ended;
    // Called for images that were reported as done, if their archive failed (`lost`) or was unfinished when
    // the batch ended.
    std::function<void(const BatchFile&)> lost, unfinished;
    std::function<void(std::size_t archive, bool is_done)> archive_ended;
  };

  // Takes its memory from that of `settings`. The caller must then make a batch with these settings and a
  // list that grows. All arguments but `settings` must outlive this.
  ArchiveBatch(const ProcessOptions& options, const std::deque<BatchFile>& archives, BatchSettings& settings,
               const SignalGuard& signals, BatchTotals& totals, Events events);

  // `batch` must outlive this.
  void begin(Batch& batch);
  [[nodiscard]] bool feed() { return job_->feed(); }
  void take(BatchResult& result) { job_->take(std::move(result)); }
  // Reports the images of unfinished archives. Call it when the batch is over.
  void finish();

 private:
  [[nodiscard]] bool is_image(ArchiveImage& image);
  [[nodiscard]] ByteSource open(const std::string& input) const;
  [[nodiscard]] BatchFile file_of(const ArchiveImage& image) const;
  void end_image(const ArchiveImage& image, const BatchResult& result);
  void fail(const BatchFile& file, const Error& error);
  void end_archive(std::size_t archive, const std::optional<Error>& error);

  const ProcessOptions& options_;
  const std::deque<BatchFile>& archives_;
  const SignalGuard& signals_;
  BatchTotals& totals_;
  const Events events_;
  Selection selection_;  // of members
  ArchiveSettings settings_;
  struct OptionHashes {
    std::uint64_t main = 0;
    std::vector<std::uint64_t> also;
  };
  std::map<Format, OptionHashes> option_hashes_;
  std::map<std::size_t, std::deque<BatchFile>> done_;  // images by archive, until the archive is written
  std::deque<BatchFile> failed_;
  std::size_t archives_done_ = 0;
  std::unique_ptr<ArchiveJob> job_;
};

}  // namespace imgpipe
