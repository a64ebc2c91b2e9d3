#include "pipeline/jobs/batch.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "images/memory/block_pool.h"
#include "images/text.h"
#include "pipeline/decode_row.h"
#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"
#include "pipeline/jobs/batch_pages.h"
#include "pipeline/jobs/batch_queue.h"
#include "pipeline/jobs/batch_threads.h"
#include "pipeline/jobs/growing_items.h"
#include "pipeline/jobs/lane_scheduler.h"
#include "pipeline/jobs/output_directories.h"

namespace imgpipe {

class Batch::Work {
 public:
  explicit Work(BatchSettings settings,
                const std::shared_ptr<GrowingItems>& growing = std::make_shared<GrowingItems>())
      : Work({0, [growing](std::size_t i) { return growing->at(i); }}, std::move(settings), growing) {}
  Work(BatchItems items, BatchSettings settings, std::shared_ptr<GrowingItems> growing = nullptr)
      : items_(std::move(items)),
        growing_(std::move(growing)),
        settings_(with_engines(std::move(settings))),
        max_workers_(workers_for(settings_, expected_items())),
        memory_engine_(settings_.engine_per_worker ? nullptr : settings_.make_engine(1)),
        pages_(settings_, max_workers_, origin_),
        queue_(items_.size(), settings_, growing_ == nullptr),
        active_workers_(max_workers_),
        lanes_(settings_, queue_, max_workers_,
               {[this](EntryPointer entry, const Error& error) { fail_input(std::move(entry), error); },
                [this](const Error& error) { abort_batch(error); }}) {
    settings_.before_first_byte = [this](const std::string& output) {
      directories_.make(std::filesystem::path(output).parent_path(), settings_.sync);
    };
    (void)no_memory();  // allocates its text while memory is available
    if (!settings_.engine_per_worker) pool_limit_.emplace(settings_.memory_bytes);
    if (settings_.lane_memory == nullptr)
      settings_.lane_memory = {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
    workers_ = start_workers(settings_, expected_items(), [this](std::size_t i) {
      Worker worker(i + 1, settings_);
      if (settings_.engine_per_worker && !has_engine(worker)) return;
      while (work_once(worker, std::nullopt)) {
      }
    });
    if ((active_workers_ -= max_workers_ - workers()) <= 0) abort_batch(no_memory());
    try {
      if (settings_.find_lanes != nullptr) finder_ = start_or_run([this] { find_lanes(); });
    } catch (...) {
      end_threads();
      throw;
    }
  }

  ~Work() { end_threads(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // If no worker thread could be started, the calling thread processes work between two checks for results.
  [[nodiscard]] std::optional<BatchResult> next(std::chrono::milliseconds patience) {
    using std::chrono::milliseconds;
    std::optional<BatchResult> result = queue_.next_result(workers_.empty() ? milliseconds(0) : patience);
    if (!result && workers_.empty()) {
      (void)work_once(caller_worker_, patience);
      result = queue_.next_result(milliseconds(0));
    }
    // The worker had no memory for the message.
    if (result && result->failed && result->reason.empty())
      result->reason = printable(items_[result->item].input) + ": " + no_memory().what();
    if (result && growing_) growing_->remove(result->item);
    return result;
  }

  void add(BatchItem item) {
    growing_->add(std::move(item));
    queue_.add_item();
  }

  // Records the batch's first fatal error.
  void abort_batch(const Error& error) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = error;
    }
    queue_.stop();
  }

  [[nodiscard]] int workers() const { return std::max(1, static_cast<int>(workers_.size())); }
  [[nodiscard]] std::string note() const {
    return settings_.device_note.empty() ? lanes_.note() : settings_.device_note;
  }
  [[nodiscard]] BatchQueue& queue() { return queue_; }
  [[nodiscard]] LaneScheduler& lanes() { return lanes_; }
  [[nodiscard]] std::optional<Error> fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
  }

 private:
  static BatchSettings with_engines(BatchSettings settings) {
    settings.engine_per_worker = settings.engine_per_worker || settings.pages;
    return settings;
  }

  [[nodiscard]] std::size_t expected_items() const {
    return growing_ ? std::numeric_limits<std::size_t>::max() : items_.size();
  }

  // Returns false when there is nothing more to do.
  bool work_once(Worker& worker, std::optional<std::chrono::milliseconds> patience) noexcept {
    BatchQueue::WorkItem work;
    const std::optional<Error> error =
        error_of([&] { work = retry_on_bad_alloc([&] { return queue_.next(patience); }); });
    if (error) {
      // malloc gives each thread an arena of its own, so another thread may find memory. The last active
      // worker begins no more images and stays for those that come back from the lanes.
      if (--active_workers_ > 0) return false;
      abort_batch(*error);
      return true;
    }
    if (work.entry) do_work(worker, work);
    return work.action != BatchQueue::Action::end;
  }

  // Ends the batch if no engine can be made: every input needs it.
  bool has_engine(Worker& worker) noexcept {
    const std::optional<Error> error = error_of([&] { (void)worker.engine(pages_.threads()); });
    if (error) abort_batch(*error);
    return !error;
  }

  void do_work(Worker& worker, BatchQueue::WorkItem& work) {
    EntryPointer& entry = work.entry;
    guarded(entry, [&] {
      if (settings_.engine_per_worker) return run_pages(worker, entry);
      if (work.action == BatchQueue::Action::open) begin(*entry);
      entry->job->timeline().set_track(worker.track());
      if (work.action == BatchQueue::Action::open) {
        open(entry);
      } else if (work.action == BatchQueue::Action::encode) {
        encode(entry, work.threads);
      } else if (entry->to_lane) {
        decode(entry);
      } else if (entry->in_bands()) {
        if (!lanes_.run_in_bands(entry, work.threads)) return;
        keep_warnings(*entry);
        write(entry);
      } else {
        run_on_host(entry, worker.engine(work.threads));
      }
    });
  }

  // An exception of an action fails its image, unless the image has been passed on.
  template <class Action>
  void guarded(EntryPointer& entry, const Action& action) noexcept {
    try {
      action();
    } catch (const Error& error) {
      fail(std::move(entry), error.kind(), [&] { return std::string(error.what()); });
    } catch (const std::bad_alloc&) {
      fail_input(std::move(entry), no_memory());
    } catch (const std::exception& error) {
      const std::optional<Error> told =
          error_of([&] { throw Error(ErrorKind::input, "internal error: " + printable(error.what())); });
      fail_input(std::move(entry), *told);
    }
  }

  void begin(BatchEntry& entry) {
    Timeline timeline(origin_);
    entry.result.start_ns = timeline.now_ns();
    entry.job.emplace(image_files(items_[entry.result.item], entry.result.item), settings_,
                      std::move(timeline));
  }

  void run_pages(Worker& worker, EntryPointer& entry) {
    BatchResult& result = entry->result;
    result.start_ns = Timeline(origin_).now_ns();
    pages_.run(items_[result.item], worker.track(), worker.engine(pages_.threads()), result);
    finish(entry);
  }

  // Prepares the image until it waits for its memory.
  void open(EntryPointer& entry) {
    if (!read(entry)) return;
    ImageJob& image = *entry->job;
    {
      auto span = image.timeline().span(part_name(Part::decode), SpanKind::host);
      image.open();
      span.set_name(decode_row(image.reader()));
    }
    entry->result.header = image.header();
    entry->result.input_bytes = image.input_bytes();
    image.make_plan();
    image.make_output();
    record_output(*entry);
    keep_warnings(*entry);
    naming(image.files().input_name, [&] { lanes_.choose_route(*entry); });
    entry->need = need_of(*entry, *memory_engine_);
    if (is_beyond_limit(entry->need.bytes) && image.use_less_memory()) {
      entry->lane_decodes = false;  // the library decodes now
      entry->need = need_of(*entry, *memory_engine_);
    }
    entry->outside_bytes = outside_pool_bytes(*entry);
    refuse_beyond_limit(image, entry->need.bytes);
    queue_.park(std::move(entry));
  }

  // Returns false if memory for the file is not available now; the image then goes back to the queue and
  // begins again later.
  bool read(EntryPointer& entry) {
    ImageJob& image = *entry->job;
    PendingInput input = pending_input(image.files(), settings_.decode);
    const std::int64_t file_bytes = input.held_bytes();
    refuse_beyond_limit(image, file_bytes);
    if (!queue_.may_read(entry, file_bytes)) return false;
    std::int64_t opening = 0;
    {
      auto span = image.timeline().span(part_name(Part::read), SpanKind::host);
      image.read(input);
      span.set_bytes(image.held_input_bytes());
      if (settings_.memory_is_limit) opening = image.opening_bytes();
    }
    if (opening == 0) return true;
    refuse_beyond_limit(image, file_bytes + opening);
    return queue_.may_read(entry, file_bytes + opening, opening);
  }

  [[nodiscard]] bool is_beyond_limit(std::int64_t bytes) const {
    return settings_.memory_is_limit && bytes > settings_.memory_bytes;
  }
  void refuse_beyond_limit(const ImageJob& image, std::int64_t bytes) const {
    if (is_beyond_limit(bytes)) throw over_budget(image, bytes, settings_.memory_bytes);
  }

  void run_on_host(EntryPointer& entry, Engine& engine) {
    entry->result.device = engine.implementation();
    Job job;
    job.counts_for = settings_.keep_spans ? CountsFor::timing : CountsFor::steps;
    job.keep_pixels = false;
    job.need = entry->host_need;
    (void)entry->job->run(engine, std::move(job));
    keep_warnings(*entry);
    write(entry);
  }

  void decode(EntryPointer& entry) {
    if (!entry->lane_decodes) {
      entry->job->decode(settings_.lane_memory.get());
    } else if (!entry->job->stage(*settings_.lane_memory)) {
      lanes_.refuse(std::move(entry));
      return;
    }
    keep_warnings(*entry);
    lanes_.push(std::move(entry));
  }

  void encode(EntryPointer& entry, int threads) {
    HostThreads host(threads);
    const std::vector<OutputRecord::Part>& made = entry->job->lane_image().coded.made.parts;
    entry->result.lane_encoded = !std::ranges::all_of(made, &OutputRecord::Part::filtered);
    entry->job->encode(host);
    write(entry);
  }

  void write(EntryPointer& entry) {
    entry->job->write();
    entry->result.output_bytes = entry->job->output_bytes();
    entry->result.file = entry->job->take_file();
    add_also_results(*entry->job, entry->result);
    for (std::size_t i = 0; i < entry->result.also.size(); ++i)
      entry->result.also[i].file = entry->job->take_also_file(i);
    if (settings_.hash) {
      entry->result.input_hashes = entry->job->input_hashes();
      entry->result.output_hashes = entry->job->output_hashes();
    }
    finish(entry);
  }

  void end_threads() {
    queue_.stop();
    for (std::thread& finder : finder_) finder.join();
    lanes_.end_finding();  // a no-op unless the finder never ran
    for (std::thread& worker : workers_) worker.join();
    lanes_.end();
  }

  void fail_input(EntryPointer entry, const Error& error) noexcept {
    const std::size_t item = entry ? entry->result.item : 0;
    fail(std::move(entry), error.kind(), [&] { return printable(items_[item].input) + ": " + error.what(); });
  }

  // `text` returns the reason. A null entry has been passed on, and ends elsewhere.
  template <class Text>
  void fail(EntryPointer entry, ErrorKind kind, const Text& text) noexcept {
    if (!entry) return;
    if (entry->job) entry->job->release();
    entry->result.failed = kind;
    entry->result.output_bytes = 0;  // the partial output is removed
    if (error_of([&] { retry_on_bad_alloc([&] { entry->result.reason = text(); }); })) {
      entry->result.failed = ErrorKind::memory;
      entry->result.reason.clear();  // see next()
    }
    finish(entry);
  }

  void finish(EntryPointer& entry) noexcept {
    BatchResult& result = entry->result;
    if (settings_.engine_per_worker) {
      result.end_ns = Timeline(origin_).now_ns();
    } else {
      add_up_times(*entry);
    }
    // The actions within error_of() are skipped if memory for them is not available.
    std::optional<Error> left_out = error_of([&] {
      if (entry->assistance != nullptr) lanes_.assisted(lane_work_ns(result));
    });
    if (!result.failed && !settings_.engine_per_worker && !entry->to_lane && !entry->in_bands())
      lanes_.record_host_image(result);
    left_out = error_of([&] {
      if (settings_.keep_spans && entry->job) result.spans = entry->job->timeline().spans();
    });
    // The output side, or a worker's device, is unusable.
    if (result.failed == ErrorKind::output ||
        (settings_.engine_per_worker && result.failed == ErrorKind::device))
      abort_batch(*error_of([&] { throw Error(*result.failed, result.reason); }));
    if (result.failed && (settings_.fail_fast || (settings_.is_hopeless && settings_.is_hopeless())))
      queue_.stop();
    queue_.end(std::move(entry));
  }

  void find_lanes() noexcept {
    std::optional<Error> error = error_of([&] { lanes_.find(); });
    if (!error) return;
    abort_batch(*error);
    error = error_of([&] { lanes_.end_finding(); });
  }

  const Timeline::Clock::time_point origin_ = Timeline::Clock::now();
  const BatchItems items_;
  const std::shared_ptr<GrowingItems> growing_;  // set: the source of items_
  BatchSettings settings_;
  const int max_workers_;
  std::optional<BlockPoolLimit> pool_limit_;     // without pages
  const std::unique_ptr<Engine> memory_engine_;  // computes memory needs; never runs an image
  BatchPages pages_;
  BatchQueue queue_;
  OutputDirectories directories_;
  mutable std::mutex mutex_;  // of fatal_
  std::optional<Error> fatal_;
  std::atomic<int> active_workers_;  // workers that have not run out of memory
  LaneScheduler lanes_;
  std::vector<std::thread> finder_;  // at most one
  std::vector<std::thread> workers_;
  Worker caller_worker_{1, settings_};  // the calling thread, if no worker thread could be started
};

Batch::Batch(BatchItems items, BatchSettings settings)
    : work_(std::make_unique<Work>(std::move(items), std::move(settings))) {}
Batch::Batch(BatchSettings settings) : work_(std::make_unique<Work>(std::move(settings))) {}
Batch::~Batch() = default;

void Batch::add(BatchItem item) {
  work_->add(std::move(item));
}
void Batch::end_list() {
  work_->queue().complete();
}
void Batch::release_file(std::int64_t bytes) {
  work_->queue().release_file(bytes);
}
void Batch::abort(const Error& error) {
  work_->abort_batch(error);
}

std::optional<BatchResult> Batch::next(std::chrono::milliseconds patience) {
  return work_->next(patience);
}
bool Batch::finished() const {
  return work_->queue().finished();
}
void Batch::stop() {
  work_->queue().stop();
}
std::string Batch::lane_note() const {
  return work_->note();
}
std::vector<std::string> Batch::take_notes() {
  return work_->lanes().take_notes();
}
std::optional<Error> Batch::fatal() const {
  return work_->fatal();
}
std::vector<std::string> Batch::devices() const {
  return work_->lanes().devices();
}
int Batch::workers() const {
  return work_->workers();
}
std::int64_t Batch::peak_admitted_bytes() const {
  return work_->queue().peak_admitted_bytes();
}

}  // namespace imgpipe
