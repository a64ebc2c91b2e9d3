// A batch whose inputs go through with their pages (--pages): each worker has an engine of its own and takes
// one input after the other, page by page (pipeline/jobs/input_job.h). Of every input no more than a page is
// held, so that a batch needs the memory of one page a worker. There are no lanes: on a CUDA device a
// worker's engine has it to itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "images/files/temporary_file.h"
#include "pipeline/device.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/jobs/output_folders.h"

namespace imgpipe {

// What takes the rows of an input's pages where no files are made of them. It lives until the input has
// ended.
struct PagesUse {
  std::function<RowUse(const ImageFiles& files, const Shape& shape)> use_rows;  // as in ImageSettings
  std::function<void(PageDone&)> page_done;  // behind each page, in their order
  std::function<void()> accept;              // once, when all are in order
};
// Asked for each input, by its number and from any thread. At most one for each worker lives at a time. What
// its functions throw fails the input.
using UsePages = std::function<PagesUse(std::size_t item)>;

class PageBatch {
 public:
  // Starts at once. Of `settings` the lanes are not used, and `use_pages` is in place of use_rows;
  // make_engine is called by each worker, once.
  PageBatch(BatchItems items, BatchSettings settings, PageWish wish, UsePages use_pages = nullptr);
  // Drops what has not begun and waits for the rest.
  ~PageBatch();
  PageBatch(const PageBatch&) = delete;
  PageBatch& operator=(const PageBatch&) = delete;

  // As those of Batch. With `use_pages` the profile that is lost is the first that a page has.
  [[nodiscard]] std::optional<BatchResult> next(std::chrono::milliseconds patience);
  [[nodiscard]] bool finished() const;
  void stop();
  [[nodiscard]] std::string lane_note() const { return settings_.device_note; }
  [[nodiscard]] std::vector<std::string> take_notes() { return take_device_warnings(); }
  [[nodiscard]] std::optional<Error> fatal() const;
  [[nodiscard]] std::vector<std::string> devices() const { return {}; }
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  // Of one page.
  [[nodiscard]] std::int64_t peak_admitted_bytes() const;

 private:
  void work(std::size_t number);
  [[nodiscard]] BatchResult process(std::size_t item, std::size_t worker, Engine& engine);
  void go_through(PageRun& run, const PagesUse& use, BatchResult& result, Engine& engine);
  void remove_what_was_left(const PageRun& run);
  void give(BatchResult result);

  const BatchItems items_;
  BatchSettings settings_;
  const PageWish wish_;
  const UsePages use_pages_;
  const Timeline::Clock::time_point origin_ = Timeline::Clock::now();
  OutputFolders folders_;
  std::mutex stale_mutex_;  // of the next one
  StaleOutputs stale_;
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::size_t next_item_ = 0;
  int working_ = 0;
  bool stopping_ = false;
  std::deque<BatchResult> results_;
  std::optional<Error> fatal_;
  std::int64_t peak_bytes_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace imgpipe
