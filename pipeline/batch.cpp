#include "pipeline/batch.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "images/file.h"
#include "images/text.h"
#include "pipeline/bands.h"
#include "pipeline/batch_queue.h"
#include "pipeline/batch_threads.h"
#include "pipeline/error_of.h"
#include "pipeline/lane_crew.h"
#include "pipeline/output_folders.h"

namespace imgpipe {
// Does what the queue says.
class Batch::Work {
 public:
  Work(std::vector<BatchItem> items, BatchSettings settings)
      : items_(std::move(items)),
        settings_(within_threads(std::move(settings), items_.size())),
        measure_(settings_.make_engine(1)),
        queue_(items_.size(), settings_),
        workers_count_(workers_for(settings_, items_.size())),
        finding_(settings_.find_lanes != nullptr) {
    if (settings_.lane_memory == nullptr)
      settings_.lane_memory = {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
    workers_ = start_workers(settings_, items_.size(), [this](std::size_t i) { work(i + 1); });
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

  [[nodiscard]] BatchQueue& queue() { return queue_; }
  std::vector<std::string> take_notes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notes_, {});
  }
  [[nodiscard]] std::optional<Error> fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
  }
  [[nodiscard]] std::vector<std::string> devices() const {
    const std::lock_guard lock(mutex_);
    return crew_ ? crew_->devices() : std::vector<std::string>();
  }
  [[nodiscard]] std::string lane_note() const {
    const std::lock_guard lock(mutex_);
    return offer_.note;
  }

 private:
  using Engines = std::map<int, std::unique_ptr<Engine>>;  // a worker's, by threads

  // ---- workers ---------------------------------------------------------------------------------------

  void work(std::size_t number) {
    const std::string track = "worker " + std::to_string(number);
    Engines engines;
    for (;;) {
      BatchQueue::Turn turn = queue_.next();
      if (turn.act == BatchQueue::Act::end) return;
      EntryPointer& entry = turn.entry;
      if (turn.act == BatchQueue::Act::open) entry->timeline = Timeline(origin_);
      entry->timeline.set_track(track);
      guarded(entry, [&] {
        if (turn.act == BatchQueue::Act::open) {
          open(entry);
        } else if (turn.act == BatchQueue::Act::encode) {
          encode(entry, turn.threads);
        } else if (entry->to_lane) {
          decode(entry);
        } else {
          run_on_host(entry, turn.threads, engines);
        }
      });
    }
  }

  template <class Action>
  void guarded(EntryPointer& entry, const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      if (entry) fail(std::move(entry), error);
    } catch (const std::bad_alloc&) {
      fail_input(std::move(entry), ErrorKind::memory, "not enough memory");
    } catch (const std::exception& error) {
      fail_input(std::move(entry), ErrorKind::input, "internal error: " + printable(error.what()));
    }
  }

  // Reads the file and its header, and leaves the image to wait for its memory.
  void open(EntryPointer& entry) {
    entry->result.start_ns = entry->timeline.now_ns();
    const BatchItem& item = item_of(*entry);
    const std::int64_t file_bytes = file_size_bytes(item.input);
    if (settings_.memory_is_limit && file_bytes > settings_.memory_bytes)
      throw over_budget(item, file_bytes, settings_.memory_bytes);
    if (!queue_.may_read(entry, file_bytes)) return;
    naming(printable(item.input), [&] {
      {
        auto span = entry->timeline.span(part_name(Part::read), SpanKind::host);
        entry->bytes = read_regular_file(
            item.input, max_file_bytes(settings_.decode),
            [&](std::span<const std::byte> beginning) { return longest_file(beginning, settings_.decode); });
        span.set_bytes(static_cast<std::int64_t>(entry->bytes.size()));
      }
      const auto span = entry->timeline.span(part_name(Part::decode), SpanKind::host);
      entry->reader = open_reader(entry->bytes, settings_.decode);
    });
    BatchResult& result = entry->result;
    result.header = entry->reader->header();
    result.input_bytes = static_cast<std::int64_t>(entry->bytes.size());
    entry->plan = make_plan(settings_.stages, result.header.shape, settings_.stage, settings_.fuse);
    naming(printable(item.output), [&] {
      result.output = storable_shape(item.format, entry->plan.output);
      entry->writer = make_writer(item.format, entry->plan.output, settings_.encode);
    });
    if (entry->plan.output.has_alpha() && !result.output.has_alpha()) {
      result.warnings.push_back(printable(item.output) + ": " + std::string(format_info(item.format).name) +
                                " holds no alpha; it is dropped");
    }
    if (result.header.more_images)
      result.warnings.push_back(printable(item.input) + ": " + kMoreImagesWarning);
    entry->to_lane = lane_takes(*entry);
    entry->need_bytes = bytes_needed(*entry, *measure_);
    if (settings_.memory_is_limit && entry->need_bytes > settings_.memory_bytes)
      throw over_budget(item, entry->need_bytes, settings_.memory_bytes);
    queue_.park(std::move(entry));
  }

  // The whole way of an image without a lane.
  void run_on_host(EntryPointer& entry, int threads, Engines& engines) {
    std::unique_ptr<Engine>& engine = engines[threads];
    if (!engine) engine = settings_.make_engine(threads);
    entry->result.device = engine->implementation();
    Job job;
    job.reader = std::move(entry->reader);
    job.plan = std::move(entry->plan);
    job.timeline = std::move(entry->timeline);
    job.keep_pixels = false;
    job.writer = std::move(entry->writer);
    engine->submit(std::move(job));
    Outcome outcome = engine->next();
    entry->timeline = std::move(outcome.timeline);
    naming(printable(item_of(*entry).input), [&] {
      if (outcome.error) std::rethrow_exception(outcome.error);
    });
    keep_warnings(*entry, outcome.warnings);
    write(*entry, outcome.file);
    finish(std::move(entry));
  }

  void decode(EntryPointer& entry) {
    naming(printable(item_of(*entry).input), [&] {
      entry->source = Image(entry->plan.input, settings_.lane_memory.get());
      const auto span =
          entry->timeline.span(part_name(Part::decode), SpanKind::host, entry->plan.input.samples());
      entry->reader->read_rows(entry->source.view());
    });
    keep_warnings(*entry, entry->reader->warnings());
    entry->reader.reset();
    entry->bytes = {};
    {
      const std::lock_guard lock(mutex_);
      if (finding_) {
        early_.push_back(std::move(entry));
        return;
      }
    }
    hand_over(std::move(entry));
  }

  void encode(EntryPointer& entry, int threads) {
    HostThreads host(threads);
    const EncodedFile file = naming(printable(item_of(*entry).output), [&] {
      return encode_image(std::as_const(entry->pixels).view(), *entry->writer, host, entry->timeline);
    });
    entry->pixels = Image();
    write(*entry, file);
    finish(std::move(entry));
  }

  void write(BatchEntry& entry, const EncodedFile& file) {
    const std::string& path = item_of(entry).output;
    entry.result.output_bytes = static_cast<std::int64_t>(file.size_bytes());
    const auto span = entry.timeline.span(part_name(Part::write), SpanKind::host, entry.result.output_bytes);
    naming(printable(path), [&] {
      folders_.make(std::filesystem::path(path).parent_path());
      write_file(path, file.parts);
    });
  }

  // ---- lanes -----------------------------------------------------------------------------------------

  LaneEvents lane_events() {
    return {[this](std::unique_ptr<LaneImage> image, const std::string& lane) {
              EntryPointer entry = entry_of(std::move(image));
              entry->source = Image();
              entry->result.device = lane;
              queue_.give_to_encode(std::move(entry));
            },
            [this](std::unique_ptr<LaneImage> image, const Error& error) {
              fail_input(entry_of(std::move(image)), error.kind(), error.what());
            },
            [this](std::unique_ptr<LaneImage> image) { queue_.begin_again(entry_of(std::move(image))); },
            [this](const std::string& lane, const Error& error, bool last) { lane_broke(lane, error, last); },
            [this] { balance(); }};
  }

  static EntryPointer entry_of(std::unique_ptr<LaneImage> image) {
    return EntryPointer(static_cast<BatchEntry*>(image.release()));
  }

  // On a thread of its own.
  void find_lanes() {
    LaneOffer offer;
    std::unique_ptr<LaneCrew> crew;
    bool start = false;
    const std::optional<Error> error = error_of([&] {
      offer = settings_.find_lanes();
      if (offer.lanes.empty()) return;
      crew = std::make_unique<LaneCrew>(std::move(offer.lanes), offer.lane_patience, lane_events(),
                                        std::move(offer.start_thread));
    });
    {
      const std::lock_guard lock(mutex_);
      crew_ = std::move(crew);
      offer_ = std::move(offer);
      lanes_usable_ = crew_ != nullptr;
      lanes_started_ = start = lanes_usable_ && offer_.lane_start_pixels == 0;
    }
    if (start) crew_->start();
    if (error) lane_broke("", *error, true);
    end_finding();
  }

  void end_finding() {
    std::deque<EntryPointer> early;
    {
      const std::lock_guard lock(mutex_);
      finding_ = false;
      early.swap(early_);
    }
    for (EntryPointer& entry : early) hand_over(std::move(entry));
  }

  // A decoded image goes to the lanes, or begins again where none is left.
  void hand_over(EntryPointer entry) {
    LaneCrew* crew = nullptr;
    {
      const std::lock_guard lock(mutex_);
      crew = crew_.get();
    }
    std::unique_ptr<LaneImage> image = std::move(entry);
    if (crew == nullptr || !crew->push(image)) {
      queue_.begin_again(entry_of(std::move(image)));
      return;
    }
    balance();
  }

  // Decoding faster than the lanes take would only fill memory. While they start it fills the time.
  void balance() {
    {
      const std::lock_guard lock(mutex_);
      queue_.hold(lanes_usable_ && !settings_.host_helps && crew_->ready() &&
                  crew_->waiting() >= 2 * crew_->slots());
      if (!lanes_started_) return;
    }
    const std::chrono::nanoseconds lost = queue_.held_time() + std::chrono::nanoseconds(lanes_work_ns_);
    crew_->lost(lost / workers_count_);  // may speak of a lane that it cannot start: with no lock held
  }

  // Whether an image is to go to a lane; starts the lanes when that begins to pay.
  bool lane_takes(BatchEntry& entry) {
    const std::int64_t pixels = entry.result.header.shape.pixels();
    const std::size_t left = queue_.left();
    bool start = false;
    {
      const std::lock_guard lock(mutex_);
      ++opened_;
      if (!settings_.host_helps) return finding_ || lanes_usable_;
      if (finding_ || !lanes_usable_ || pixels < offer_.lane_pixels) return false;
      lane_pixels_seen_ += static_cast<double>(pixels);
      const double to_come = lane_pixels_seen_ / static_cast<double>(opened_) * static_cast<double>(left);
      start = !lanes_started_ && to_come >= static_cast<double>(offer_.lane_start_pixels);
      if (start) lanes_started_ = true;
    }
    if (start) crew_->start();
    if (!crew_->ready()) return false;
    entry.lane_was_full = crew_->waiting() >= crew_->slots();
    return !entry.lane_was_full;
  }

  // `lane` is empty when there was none to break.
  void lane_broke(const std::string& lane, const Error& error, bool last) {
    bool over = false;
    {
      const std::lock_guard lock(mutex_);
      if (last) lanes_usable_ = false;
      over = last && !settings_.host_helps;
      if (over) {
        const std::string what = (lane.empty() ? "" : lane + ": ") + error.what();
        if (!fatal_) fatal_ = Error(ErrorKind::device, what);
      } else {
        notes_.push_back((lane.empty() ? "cuda" : lane) + " is not used: " + error.what());
      }
    }
    if (over) queue_.stop();
    balance();
  }

  // ---- ends ------------------------------------------------------------------------------------------

  void end_threads() {
    queue_.stop();
    for (std::thread& finder : finder_) finder.join();
    end_finding();  // already done, unless the finder never ran
    for (std::thread& worker : workers_) worker.join();
    if (crew_) crew_->end();  // not reset(): events of its last moments still look at crew_
  }

  [[nodiscard]] const BatchItem& item_of(const BatchEntry& entry) const { return items_[entry.result.item]; }

  void keep_warnings(BatchEntry& entry, const std::vector<std::string>& warnings) const {
    for (const std::string& warning : warnings)
      entry.result.warnings.push_back(printable(item_of(entry).input) + ": " + warning);
  }

  // A null entry has gone on already, and ends elsewhere.
  void fail_input(EntryPointer entry, ErrorKind kind, const std::string& what) {
    if (!entry) return;
    const std::string path = printable(item_of(*entry).input);
    fail(std::move(entry), Error(kind, path + ": " + what));
  }

  void fail(EntryPointer entry, const Error& error) {
    entry->result.failed = error.kind();
    entry->result.reason = error.what();
    finish(std::move(entry));
  }

  void finish(EntryPointer entry) {
    add_up_times(*entry);
    if (entry->lane_was_full) {
      lanes_work_ns_ += entry->result.busy[static_cast<std::size_t>(Part::kernels)];
      balance();
    }
    BatchResult result = std::move(entry->result);
    if (settings_.keep_spans) result.spans = entry->timeline.spans();
    const bool no_output = result.failed == ErrorKind::output;
    if (no_output) {
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = Error(ErrorKind::output, result.reason);
    }
    if (no_output || (result.failed && settings_.fail_fast)) queue_.stop();
    queue_.end(std::move(entry), std::move(result));
  }

  const Timeline::Clock::time_point origin_ = Timeline::Clock::now();
  const std::vector<BatchItem> items_;
  BatchSettings settings_;
  const std::unique_ptr<Engine> measure_;  // says what images need; does none
  BatchQueue queue_;
  const int workers_count_;
  OutputFolders folders_;
  mutable std::mutex mutex_;  // of all that follows but the threads
  std::optional<Error> fatal_;
  std::vector<std::string> notes_;
  bool finding_ = false, lanes_usable_ = false, lanes_started_ = false;
  std::deque<EntryPointer> early_;  // decoded before the lanes were found
  LaneOffer offer_;
  std::size_t opened_ = 0;
  double lane_pixels_seen_ = 0;
  std::atomic<std::int64_t> lanes_work_ns_{0};  // what workers did in place of lanes that were full
  std::unique_ptr<LaneCrew> crew_;              // made once, by finder_
  std::vector<std::thread> finder_;             // one, or none
  std::vector<std::thread> workers_;
};

Batch::Batch(std::vector<BatchItem> items, BatchSettings settings)
    : work_(std::make_unique<Work>(std::move(items), std::move(settings))) {}
Batch::~Batch() = default;

std::optional<BatchResult> Batch::next(std::chrono::milliseconds patience) {
  return work_->queue().next_result(patience);
}
bool Batch::finished() const {
  return work_->queue().finished();
}
void Batch::stop() {
  work_->queue().stop();
}
std::string Batch::lane_note() const {
  return work_->lane_note();
}
std::vector<std::string> Batch::take_notes() {
  return work_->take_notes();
}
std::optional<Error> Batch::fatal() const {
  return work_->fatal();
}
std::vector<std::string> Batch::devices() const {
  return work_->devices();
}
std::int64_t Batch::peak_admitted_bytes() const {
  return work_->queue().peak_admitted_bytes();
}

}  // namespace imgpipe
