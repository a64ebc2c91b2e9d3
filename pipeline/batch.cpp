#include "pipeline/batch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include "images/file.h"
#include "images/text.h"
#include "pipeline/bands.h"
#include "pipeline/lane_crew.h"

namespace imgpipe {
namespace {

// An image on its way.
struct Entry final : LaneImage {
  std::vector<std::byte> bytes;  // of the file; the reader's
  std::unique_ptr<Reader> reader;
  std::unique_ptr<Writer> writer;
  bool to_lane = false;
  bool admitted = false;
  std::int64_t need_bytes = 0;
  BatchResult result;
};
using EntryPointer = std::unique_ptr<Entry>;

std::optional<Part> part_of(const Span& span) {
  if (span.kind == SpanKind::kernel) return Part::kernels;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (span.name == part_name(static_cast<Part>(i))) return static_cast<Part>(i);
  }
  return std::nullopt;
}

// An upper bound of what an image needs, by its header: its file, the images on both sides of a stage, what
// its decoder holds by itself, and the encoded file.
std::int64_t bytes_needed(const Entry& entry) {
  const std::int64_t input = entry.plan.input.samples();
  const std::int64_t output = entry.plan.output.samples();
  std::int64_t stages = input + output;
  if (!entry.to_lane) {
    for (const Step& step : entry.plan.steps) {
      stages =
          std::max(stages, step.in.pixels() * step.in.channels() + step.out.pixels() * step.out.channels());
    }
  }
  const ImageHeader& header = entry.reader->header();
  std::int64_t decoder = 0;
  if (header.progressive) decoder = 2 * input;  // 16-bit coefficients, or all passes of an interlaced image
  if (header.orientation != Orientation::upright ||
      (header.format != Format::jpeg && header.format != Format::png))
    decoder = std::max(decoder, input);
  constexpr std::int64_t kRest = std::int64_t{4} << 20;  // bands, strips, tables
  return static_cast<std::int64_t>(entry.bytes.size()) + stages + decoder + output + output / 8 + kRest;
}

// Runs `work`; an Error on its way out gets the path that it is about.
template <class Action>
auto naming(const std::string& path, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error.kind(), printable(path) + ": " + error.what());
  }
}

}  // namespace

std::string_view part_name(Part part) {
  constexpr std::array<std::string_view, kParts> kNames{"read",     "decode", "upload", "kernels",
                                                        "download", "encode", "write"};
  return kNames[static_cast<std::size_t>(part)];
}

// Everything under mutex_ but what a worker does with an image, which is that worker's until it hands it on.
class Batch::Work {
 public:
  Work(std::vector<BatchItem> items, BatchSettings settings)
      : items_(std::move(items)), settings_(std::move(settings)) {
    settings_.jobs =
        static_cast<int>(std::clamp<std::size_t>(items_.size(), 1, static_cast<std::size_t>(settings_.jobs)));
    if (settings_.lane_memory == nullptr)
      settings_.lane_memory = {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
    finding_ = settings_.find_lanes != nullptr;
    if (finding_) finder_ = std::thread([this] { find_lanes(); });
    for (int i = 0; i < settings_.jobs; ++i) workers_.emplace_back([this, i] { work(i); });
  }

  ~Work() {
    stop();
    if (finder_.joinable()) finder_.join();
    for (std::thread& worker : workers_) worker.join();
    crew_.reset();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  std::optional<BatchResult> next(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    result_ready_.wait_for(lock, patience, [this] { return !results_.empty() || idle(); });
    if (results_.empty()) return std::nullopt;
    BatchResult result = std::move(results_.front());
    results_.pop_front();
    return result;
  }

  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex_);
    return results_.empty() && idle();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_locked();
    }
    notify();
  }

  std::vector<std::string> take_notes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notes_, {});
  }
  [[nodiscard]] std::optional<Error> fatal() const {
    const std::lock_guard lock(mutex_);
    return fatal_;
  }
  [[nodiscard]] std::int64_t peak_admitted_bytes() const {
    const std::lock_guard lock(mutex_);
    return peak_admitted_bytes_;
  }
  [[nodiscard]] std::vector<std::string> devices() const {
    const std::lock_guard lock(mutex_);
    return crew_ ? crew_->devices() : std::vector<std::string>();
  }
  [[nodiscard]] std::string lane_note() const {
    const std::lock_guard lock(mutex_);
    return lane_note_;
  }
  [[nodiscard]] Timeline::Clock::time_point origin() const { return origin_; }

 private:
  using Engines = std::map<int, std::unique_ptr<Engine>>;  // a worker's, by threads

  // ---- workers ---------------------------------------------------------------------------------------

  void work(int number) {
    const std::string track = "worker " + std::to_string(number + 1);
    Engines engines;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!to_encode_.empty()) {
        EntryPointer entry = std::move(to_encode_.front());
        to_encode_.pop_front();
        const int threads = threads_now();
        lock.unlock();
        entry->timeline.set_track(track);
        guarded(entry, [&] { encode(entry, threads); });
      } else if (!parked_.empty() && fits(*parked_.front())) {
        EntryPointer entry = std::move(parked_.front());
        parked_.pop_front();
        admit(*entry);
        const int threads = threads_now();
        lock.unlock();
        notify();  // the next one parked may fit too
        entry->timeline.set_track(track);
        guarded(entry, [&] {
          if (entry->to_lane) {
            decode(entry);
          } else {
            run_on_host(entry, threads, engines);
          }
        });
      } else if (parked_.empty() && may_open()) {
        EntryPointer entry = begin_next();
        lock.unlock();
        entry->timeline.set_track(track);
        guarded(entry, [&] { open(entry); });
      } else if (idle()) {
        return;
      } else {
        work_ready_.wait(lock);
        continue;
      }
      lock.lock();
    }
  }

  // An image's own errors end that image.
  template <class Action>
  void guarded(EntryPointer& entry, const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      fail(std::move(entry), error);
    } catch (const std::bad_alloc&) {
      const std::string path = printable(item_of(*entry).input);
      fail(std::move(entry), Error(ErrorKind::memory, path + ": not enough memory"));
    } catch (const std::exception& error) {
      const std::string path = printable(item_of(*entry).input);
      fail(std::move(entry), Error(ErrorKind::input, path + ": internal error: " + printable(error.what())));
    }
  }

  // Reads the file and its header, and leaves the image to wait for its memory.
  void open(EntryPointer& entry) {
    const BatchItem& item = item_of(*entry);
    naming(item.input, [&] {
      {
        auto span = entry->timeline.span(part_name(Part::read), SpanKind::host);
        entry->bytes = read_regular_file(item.input, max_file_bytes(settings_.decode));
        span.set_bytes(static_cast<std::int64_t>(entry->bytes.size()));
      }
      const auto span = entry->timeline.span(part_name(Part::decode), SpanKind::host);
      entry->reader = open_reader(entry->bytes, settings_.decode);
    });
    BatchResult& result = entry->result;
    result.header = entry->reader->header();
    result.input_bytes = static_cast<std::int64_t>(entry->bytes.size());
    entry->plan = make_plan(settings_.stages, result.header.shape, settings_.stage, settings_.fuse);
    naming(item.output, [&] {
      result.output = storable_shape(item.format, entry->plan.output);
      entry->writer = make_writer(item.format, entry->plan.output, settings_.encode);
    });
    if (entry->plan.output.has_alpha() && !result.output.has_alpha()) {
      result.warnings.push_back(printable(item.output) + ": " + std::string(format_info(item.format).name) +
                                " holds no alpha; it is dropped");
    }
    {
      const std::lock_guard lock(mutex_);
      entry->to_lane = lane_takes(*entry);
      entry->need_bytes = bytes_needed(*entry);
      if (settings_.memory_is_limit && entry->need_bytes > settings_.memory_bytes) {
        throw Error(ErrorKind::memory, printable(item.input) + ": needs up to " +
                                           std::to_string(entry->need_bytes) + " bytes, --memory leaves " +
                                           std::to_string(settings_.memory_bytes) + " for images");
      }
      if (stopping_) {
        drop(std::move(entry));
      } else {
        parked_.push_back(std::move(entry));
      }
    }
    notify();
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
    naming(item_of(*entry).input, [&] {
      if (outcome.error) std::rethrow_exception(outcome.error);
    });
    keep_warnings(*entry, outcome.warnings);
    write(*entry, outcome.file);
    finish(std::move(entry));
  }

  void decode(EntryPointer& entry) {
    naming(item_of(*entry).input, [&] {
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
    const EncodedFile file = naming(item_of(*entry).output, [&] {
      return encode_image(std::as_const(entry->pixels).view(), *entry->writer, host, entry->timeline);
    });
    entry->pixels = Image();
    write(*entry, file);
    finish(std::move(entry));
  }

  void write(Entry& entry, const EncodedFile& file) {
    const std::string& path = item_of(entry).output;
    entry.result.output_bytes = static_cast<std::int64_t>(file.size_bytes());
    const auto span = entry.timeline.span(part_name(Part::write), SpanKind::host, entry.result.output_bytes);
    naming(path, [&] {
      make_folder(std::filesystem::path(path).parent_path());
      write_file(path, file.parts);
    });
  }

  void make_folder(const std::filesystem::path& folder) {
    const std::lock_guard lock(folders_mutex_);
    if (folder.empty() || folders_.contains(folder.string())) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Error(ErrorKind::output, "cannot make the folder: " + error.message());
    folders_.insert(folder.string());
  }

  // ---- lanes -----------------------------------------------------------------------------------------

  LaneEvents lane_events() {
    return {[this](std::unique_ptr<LaneImage> image, const std::string& lane) {
              EntryPointer entry = entry_of(std::move(image));
              entry->source = Image();
              entry->result.device = lane;
              {
                const std::lock_guard lock(mutex_);
                to_encode_.push_back(std::move(entry));
              }
              notify();
            },
            [this](std::unique_ptr<LaneImage> image, const Error& error) {
              EntryPointer entry = entry_of(std::move(image));
              const std::string path = printable(item_of(*entry).input);
              fail(std::move(entry), Error(error.kind(), path + ": " + error.what()));
            },
            [this](std::unique_ptr<LaneImage> image) { take_back(entry_of(std::move(image))); },
            [this](const std::string& lane, const Error& error, bool last) { lane_broke(lane, error, last); },
            [this] { notify(); }};
  }

  static EntryPointer entry_of(std::unique_ptr<LaneImage> image) {
    return EntryPointer(static_cast<Entry*>(image.release()));
  }

  // On a thread of its own.
  void find_lanes() {
    LaneOffer offer;
    std::optional<Error> error;
    try {
      offer = settings_.find_lanes();
    } catch (const Error& thrown) {
      error = thrown;
    } catch (const std::exception& thrown) {
      error = Error(ErrorKind::device, "internal error: " + printable(thrown.what()));
    }
    std::deque<EntryPointer> early;
    {
      const std::lock_guard lock(mutex_);
      finding_ = false;
      early.swap(early_);
      lane_note_ = offer.note;
      lane_pixels_ = offer.lane_pixels;
      lane_start_pixels_ = offer.lane_start_pixels;
      lanes_usable_ = !offer.lanes.empty();
      if (lanes_usable_) crew_ = std::make_unique<LaneCrew>(std::move(offer.lanes), lane_events());
      if (lanes_usable_ && lane_start_pixels_ == 0) start_lanes();
    }
    if (error) lane_broke("", *error, true);
    for (EntryPointer& entry : early) hand_over(std::move(entry));
    notify();
  }

  // A decoded image goes to the lanes, or begins again where none is left.
  void hand_over(EntryPointer entry) {
    bool usable = false;
    {
      const std::lock_guard lock(mutex_);
      usable = crew_ != nullptr;
    }
    std::unique_ptr<LaneImage> image = std::move(entry);
    if (!usable || !crew_->push(image)) take_back(entry_of(std::move(image)));
  }

  void start_lanes() {
    lanes_started_ = true;
    crew_->start();
  }

  // Whether an image is to go to a lane; starts the lanes when that begins to pay.
  bool lane_takes(const Entry& entry) {
    ++opened_;
    if (!settings_.host_helps) return finding_ || lanes_usable_;
    const std::int64_t pixels = entry.plan.input.pixels();
    if (finding_ || !lanes_usable_ || pixels < lane_pixels_) return false;
    lane_pixels_seen_ += static_cast<double>(pixels);
    if (!lanes_started_) {
      const double to_come = lane_pixels_seen_ / static_cast<double>(opened_) * static_cast<double>(left());
      if (to_come >= static_cast<double>(lane_start_pixels_)) start_lanes();
    }
    return crew_->ready() && crew_->waiting() < crew_->slots();
  }

  void lane_broke(const std::string& lane, const Error& error, bool last) {
    {
      const std::lock_guard lock(mutex_);
      if (last) lanes_usable_ = false;
      if (last && !settings_.host_helps) {
        // Whatever it was that kept the device from working, as an error of the device it ends the batch.
        const std::string what = (lane.empty() ? "" : lane + ": ") + error.what();
        if (!fatal_) fatal_ = Error(ErrorKind::device, what);
        stop_locked();
      } else {
        notes_.push_back((lane.empty() ? "cuda" : lane) + " is not used: " + error.what());
      }
    }
    notify();
  }

  // An image whose lane broke begins again.
  void take_back(EntryPointer entry) {
    const std::size_t item = entry->result.item;
    const std::int64_t need = entry->need_bytes;
    entry.reset();
    {
      const std::lock_guard lock(mutex_);
      release(need);
      again_.push_back(item);
    }
    notify();
  }

  // ---- bookkeeping; the next ones under mutex_ -------------------------------------------------------

  [[nodiscard]] std::size_t left() const { return items_.size() - next_item_ + again_.size() + in_flight_; }

  // Nothing is on its way, and nothing will be.
  [[nodiscard]] bool idle() const {
    return in_flight_ == 0 && (stopping_ || (next_item_ == items_.size() && again_.empty()));
  }

  // Decoding faster than the lanes take would only fill memory. While they start it fills the time.
  [[nodiscard]] bool may_open() const {
    if (stopping_ || (next_item_ == items_.size() && again_.empty())) return false;
    return !lanes_usable_ || settings_.host_helps || !crew_->ready() || crew_->waiting() < 2 * crew_->slots();
  }

  EntryPointer begin_next() {
    EntryPointer entry = std::make_unique<Entry>();
    if (again_.empty()) {
      entry->result.item = next_item_++;
    } else {
      entry->result.item = again_.front();
      again_.pop_front();
    }
    ++in_flight_;
    entry->timeline = Timeline(origin_);
    entry->result.start_ns = entry->timeline.now_ns();
    return entry;
  }

  // Threads for one image: more than one only when there are fewer images than threads.
  [[nodiscard]] int threads_now() const {
    const auto at_once = std::clamp<std::size_t>(left(), 1, static_cast<std::size_t>(settings_.jobs));
    return std::max(1, settings_.threads / static_cast<int>(at_once));
  }

  [[nodiscard]] bool fits(const Entry& entry) const {
    return admitted_bytes_ == 0 || admitted_bytes_ + entry.need_bytes <= settings_.memory_bytes;
  }

  void admit(Entry& entry) {
    entry.admitted = true;
    admitted_bytes_ += entry.need_bytes;
    peak_admitted_bytes_ = std::max(peak_admitted_bytes_, admitted_bytes_);
  }

  void release(std::int64_t bytes) {
    admitted_bytes_ -= bytes;
    --in_flight_;
  }

  void drop(EntryPointer entry) {
    release(entry->admitted ? entry->need_bytes : 0);
    entry.reset();
  }

  void stop_locked() {
    stopping_ = true;
    for (EntryPointer& entry : parked_) drop(std::move(entry));
    parked_.clear();
  }

  // ---- ends ------------------------------------------------------------------------------------------

  [[nodiscard]] const BatchItem& item_of(const Entry& entry) const { return items_[entry.result.item]; }

  void keep_warnings(Entry& entry, const std::vector<std::string>& warnings) const {
    for (const std::string& warning : warnings)
      entry.result.warnings.push_back(printable(item_of(entry).input) + ": " + warning);
  }

  void fail(EntryPointer entry, const Error& error) {
    entry->result.failed = error.kind();
    entry->result.reason = error.what();
    finish(std::move(entry));
  }

  void finish(EntryPointer entry) {
    BatchResult result = std::move(entry->result);
    result.end_ns = entry->timeline.now_ns();
    for (const Span& span : entry->timeline.spans()) {
      const std::optional<Part> part = part_of(span);
      if (!part) continue;
      const auto at = static_cast<std::size_t>(*part);
      result.busy[at] += span.length_ns();
      if (!entry->to_lane || span.kind == SpanKind::host) continue;
      Interval& interval = result.on_lane[at];
      if (interval.end_ns == 0) interval.start_ns = span.start_ns;
      interval = {std::min(interval.start_ns, span.start_ns), std::max(interval.end_ns, span.end_ns)};
    }
    if (settings_.keep_spans) result.spans = entry->timeline.spans();
    const std::int64_t admitted = entry->admitted ? entry->need_bytes : 0;
    entry.reset();  // its memory is free before the next image is let in
    {
      const std::lock_guard lock(mutex_);
      release(admitted);
      if (result.failed == ErrorKind::output && !fatal_) fatal_ = Error(ErrorKind::output, result.reason);
      if (result.failed == ErrorKind::output || (result.failed && settings_.fail_fast)) stop_locked();
      results_.push_back(std::move(result));
    }
    notify();
  }

  void notify() {
    work_ready_.notify_all();
    result_ready_.notify_one();
  }

  const Timeline::Clock::time_point origin_ = Timeline::Clock::now();
  const std::vector<BatchItem> items_;
  BatchSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable work_ready_, result_ready_;
  bool stopping_ = false;
  std::optional<Error> fatal_;
  std::vector<std::string> notes_;
  std::size_t next_item_ = 0, in_flight_ = 0, opened_ = 0;
  std::deque<std::size_t> again_;       // items whose lane broke
  std::deque<EntryPointer> parked_;     // opened, waiting for memory
  std::deque<EntryPointer> to_encode_;  // back from a lane
  std::deque<BatchResult> results_;
  std::int64_t admitted_bytes_ = 0, peak_admitted_bytes_ = 0;
  bool finding_ = false, lanes_usable_ = false, lanes_started_ = false;
  std::deque<EntryPointer> early_;  // decoded before the lanes were found
  std::string lane_note_;
  std::int64_t lane_pixels_ = 0, lane_start_pixels_ = 0;
  double lane_pixels_seen_ = 0;
  std::mutex folders_mutex_;
  std::unordered_set<std::string> folders_;  // made or seen
  std::unique_ptr<LaneCrew> crew_;           // made once, by finder_
  std::thread finder_;
  std::vector<std::thread> workers_;
};

Batch::Batch(std::vector<BatchItem> items, BatchSettings settings)
    : work_(std::make_unique<Work>(std::move(items), std::move(settings))) {}
Batch::~Batch() = default;

std::optional<BatchResult> Batch::next(std::chrono::milliseconds patience) {
  return work_->next(patience);
}
bool Batch::finished() const {
  return work_->finished();
}
void Batch::stop() {
  work_->stop();
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
  return work_->peak_admitted_bytes();
}
Timeline::Clock::time_point Batch::origin() const {
  return work_->origin();
}

}  // namespace imgpipe
