#include "pipeline/batch.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "images/block_pool.h"
#include "images/output_file.h"
#include "images/text.h"
#include "pipeline/bands.h"
#include "pipeline/batch_lanes.h"
#include "pipeline/batch_queue.h"
#include "pipeline/batch_threads.h"
#include "pipeline/output_folders.h"

namespace imgpipe {
// Does what the queue says.
class Batch::Work {
 public:
  Work(BatchItems items, BatchSettings settings)
      : items_(std::move(items)),
        settings_(within_threads(std::move(settings), items_.size())),
        measure_(settings_.make_engine(1)),
        queue_(items_.size(), settings_),
        lanes_(settings_, queue_, workers_for(settings_, items_.size()),
               {[this](EntryPointer entry, const Error& error) {
                  fail_input(std::move(entry), error.kind(), error.what());
                },
                [this](const Error& error) { give_up(error); }}) {
    settle_malloc();
    block_pool().keep_within(settings_.memory_bytes);
    if (settings_.lane_memory == nullptr)
      settings_.lane_memory = {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
    workers_ = start_workers(settings_, items_.size(), [this](std::size_t i) { work(i + 1); });
    try {
      if (settings_.find_lanes != nullptr) finder_ = start_or_run([this] { lanes_.find(); });
    } catch (...) {
      end_threads();
      throw;
    }
  }

  ~Work() {
    end_threads();
    block_pool().keep_within(BlockPool::kUsualBytes);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] BatchQueue& queue() { return queue_; }
  [[nodiscard]] BatchLanes& lanes() { return lanes_; }
  [[nodiscard]] std::optional<Error> fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
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
    const BatchItem item = item_of(*entry);
    const std::int64_t file_bytes = held_input_bytes(item.input, settings_.decode);
    if (settings_.memory_is_limit && file_bytes > settings_.memory_bytes)
      throw over_budget(item, file_bytes, settings_.memory_bytes);
    if (!queue_.may_read(entry, file_bytes)) return;
    const std::int64_t opening = naming(printable(item.input), [&] {
      auto span = entry->timeline.span(part_name(Part::read), SpanKind::host);
      entry->input = open_input(item.input, settings_.decode, InputKind::regular_only);
      span.set_bytes(static_cast<std::int64_t>(entry->input.bytes().size()));
      return settings_.memory_is_limit ? opening_bytes(entry->input.bytes(), settings_.decode) : 0;
    });
    if (opening > 0 && file_bytes + opening > settings_.memory_bytes)
      throw over_budget(item, file_bytes + opening, settings_.memory_bytes);
    if (opening > 0 && !queue_.may_read(entry, file_bytes + opening, opening)) return;
    naming(printable(item.input), [&] {
      const auto span = entry->timeline.span(part_name(Part::decode), SpanKind::host);
      entry->reader = open_reader(entry->input, settings_.decode);
    });
    BatchResult& result = entry->result;
    result.header = entry->reader->header();
    result.input_bytes = entry->input.size_bytes();
    entry->plan = make_plan(settings_.stages, result.header.shape, settings_.stage, settings_.fuse);
    naming(printable(item.output), [&] {
      result.output = storable_shape(item.format, entry->plan.output);
      entry->writer = make_writer(item.format, entry->plan.output, settings_.encode);
      entry->output = std::make_unique<OutputFile>(item.output);
      entry->sink = sink_to(*entry);
    });
    if (entry->plan.output.has_alpha() && !result.output.has_alpha()) {
      result.warnings.push_back(printable(item.output) + ": " + std::string(format_info(item.format).name) +
                                " holds no alpha; it is dropped");
    }
    if (result.header.more_images)
      result.warnings.push_back(printable(item.input) + ": " + kMoreImagesWarning);
    entry->to_lane = lanes_.take(*entry);
    entry->need = need_of(*entry, *measure_);
    entry->outside_bytes = outside_pool_bytes(*entry, settings_.decode.codec);
    if (settings_.memory_is_limit && entry->need.bytes > settings_.memory_bytes)
      throw over_budget(item, entry->need.bytes, settings_.memory_bytes);
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
    job.sink = entry->sink;
    engine->submit(std::move(job));
    Outcome outcome = engine->next();
    entry->timeline = std::move(outcome.timeline);
    const BatchItem item = item_of(*entry);
    naming(printable(item.input), printable(item.output), [&] {
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
    entry->input = InputFile();
    lanes_.hand_over(std::move(entry));
  }

  void encode(EntryPointer& entry, int threads) {
    HostThreads host(threads);
    const EncodedFile file = naming(printable(item_of(*entry).output), [&] {
      return encode_image(std::as_const(entry->pixels).view(), *entry->writer, host, entry->timeline,
                          entry->sink);
    });
    entry->pixels = Image();
    write(*entry, file);
    finish(std::move(entry));
  }

  // A large file is written as it is made, where nobody sees it before it is put in place. Its folder is then
  // there before the image is known to be good to its end.
  ByteSink sink_to(BatchEntry& entry) {
    if (!is_large_file(*entry.writer) || !entry.output->is_replaced()) return {};
    return [this, &entry](std::span<const std::byte> bytes) { append(entry, bytes); };
  }

  void append(BatchEntry& entry, std::span<const std::byte> bytes) {
    if (entry.result.output_bytes == 0)
      folders_.make(std::filesystem::path(item_of(entry).output).parent_path());
    entry.output->append(bytes);
    entry.result.output_bytes += static_cast<std::int64_t>(bytes.size());
  }

  // What is not written yet of the file, and its end.
  void write(BatchEntry& entry, const EncodedFile& file) {
    const std::string path = item_of(entry).output;
    const auto span = entry.timeline.span(part_name(Part::write), SpanKind::host,
                                          static_cast<std::int64_t>(file.size_bytes()));
    naming(printable(path), [&] {
      if (!entry.sink) folders_.make(std::filesystem::path(path).parent_path());
      settings_.before_write(path);
      for (const std::vector<std::byte>& part : file.parts) append(entry, part);
      entry.output->put_in_place();
    });
  }

  // ---- ends ------------------------------------------------------------------------------------------

  void end_threads() {
    queue_.stop();
    for (std::thread& finder : finder_) finder.join();
    lanes_.end_finding();  // already done, unless the finder never ran
    for (std::thread& worker : workers_) worker.join();
    lanes_.end();
  }

  [[nodiscard]] BatchItem item_of(const BatchEntry& entry) const { return items_[entry.result.item]; }

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
    entry->result.output_bytes = 0;  // what was written of it is gone
    finish(std::move(entry));
  }

  void finish(EntryPointer entry) {
    add_up_times(*entry);
    if (entry->lane_was_full)
      lanes_.did_their_work(entry->result.busy[static_cast<std::size_t>(Part::kernels)]);
    BatchResult result = std::move(entry->result);
    if (settings_.keep_spans) result.spans = entry->timeline.spans();
    const bool no_output = result.failed == ErrorKind::output;
    if (no_output) give_up(Error(ErrorKind::output, result.reason));
    if (result.failed && settings_.fail_fast) queue_.stop();
    queue_.end(std::move(entry), std::move(result));
  }

  // The first reason is the batch's.
  void give_up(const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = error;
    }
    queue_.stop();
  }

  const Timeline::Clock::time_point origin_ = Timeline::Clock::now();
  const BatchItems items_;
  BatchSettings settings_;
  const std::unique_ptr<Engine> measure_;  // says what images need; does none
  BatchQueue queue_;
  OutputFolders folders_;
  mutable std::mutex mutex_;  // of fatal_
  std::optional<Error> fatal_;
  BatchLanes lanes_;
  std::vector<std::thread> finder_;  // one, or none
  std::vector<std::thread> workers_;
};

Batch::Batch(BatchItems items, BatchSettings settings)
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
  return work_->lanes().note();
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
std::int64_t Batch::peak_admitted_bytes() const {
  return work_->queue().peak_admitted_bytes();
}

}  // namespace imgpipe
