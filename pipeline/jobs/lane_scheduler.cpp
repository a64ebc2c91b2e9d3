#include "pipeline/jobs/lane_scheduler.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "pipeline/device.h"
#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"

namespace imgpipe {
namespace {

// Images waiting for lanes that have not been found or started yet take memory and save little time.
constexpr std::size_t kMaxQueuedBeforeStart = 1024;
constexpr double kMaxWaitingBeforeStart = 8;

}  // namespace

LaneScheduler::LaneScheduler(const BatchSettings& settings, BatchQueue& queue, int workers, Events events)
    : settings_(settings),
      queue_(queue),
      workers_(workers),
      events_(std::move(events)),
      finding_(settings.find_lanes != nullptr),
      assist_(workers) {}

void LaneScheduler::find() {
  LaneCapacity capacity;
  std::vector<LaneState> lanes;
  const std::optional<Error> error = error_of([&] {
    capacity = settings_.find_lanes();
    lanes = std::vector<LaneState>(capacity.lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      LaneState& state = lanes[i];
      state.lane = std::move(capacity.lanes[i]);
      for (std::size_t slot = state.lane->slots(); slot-- > 0;) state.free.push_back(slot);
      state.running.reserve(state.free.size());  // later there may be no memory, and no caller to report to
    }
  });
  std::vector<Broken> broken;
  {
    const std::lock_guard lock(mutex_);
    capacity_ = std::move(capacity);
    if (!error) lanes_ = std::move(lanes);
    usable_ = !lanes_.empty();
    started_ = usable_ && capacity_.lane_start_pixels == 0;
    if (started_) start_first(broken);
  }
  report(std::move(broken));
  if (error) report("", *error, true);
  end_finding();
}

void LaneScheduler::end_finding() {
  std::list<EntryPointer> left;
  {
    const std::lock_guard lock(mutex_);
    finding_ = false;
    if (all_broken()) left.swap(waiting_);
    if (!left.empty()) waiting_pixels_ = 0;
  }
  changed_.notify_all();
  for (EntryPointer& entry : left) return_image(std::move(entry));
  balance();
}

void LaneScheduler::end() {
  std::list<EntryPointer> dropped;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    dropped.swap(waiting_);
    waiting_pixels_ = 0;
  }
  changed_.notify_all();
  for (LaneState& state : lanes_) {
    if (state.launcher.joinable()) state.launcher.join();
    if (state.collector.joinable()) state.collector.join();
  }
}

void LaneScheduler::choose_route(BatchEntry& entry) {
  const std::size_t left = queue_.left();
  std::vector<Broken> broken;
  {
    const std::lock_guard lock(mutex_);
    entry.result.route = route_of(entry, is_taken(entry, left, broken));
    entry.to_lane = entry.result.route == ImageRoute::device;
    entry.lane_decodes = entry.to_lane && entry.job->reader().jpeg_scan() != nullptr && has_codecs() &&
                         !refused_.contains(entry.result.item);
  }
  report(std::move(broken));
}

void LaneScheduler::push(EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (finding_ || !all_broken()) {
      waiting_.push_back(std::move(entry));
      waiting_pixels_ += lane_pixels(*waiting_.back());
    }
  }
  if (entry) {
    return_image(std::move(entry));
  } else {
    changed_.notify_all();
  }
  balance();
}

void LaneScheduler::refuse(EntryPointer&& entry) {
  begin_again(refused_, std::move(entry));
}

bool LaneScheduler::run_in_bands(EntryPointer& entry, int threads) {
  std::optional<Error> error;
  const bool works = use_exclusively([&](Lane& lane) -> std::optional<Error> {
    entry->result.device = lane.name();
    Job job;
    job.keep_pixels = false;
    error = error_of([&] {
      const std::unique_ptr<Engine> engine = lane.make_band_engine(threads);
      (void)entry->job->run(*engine, std::move(job));
    });
    return error && error->kind() == ErrorKind::device ? error : std::nullopt;
  });
  balance();
  if (!works) {
    queue_.begin_again(std::move(entry));
  } else if (error && error->kind() == ErrorKind::memory && settings_.host_helps) {
    begin_again(without_bands_, std::move(entry));
  } else if (error) {
    throw Error(*error);
  } else {
    return true;
  }
  return false;
}

void LaneScheduler::record_host_image(const BatchResult& result) {
  const std::lock_guard lock(mutex_);
  host_stages_ns_ += static_cast<double>(result.busy[static_cast<std::size_t>(Part::kernels)]);
  host_pixels_ += static_cast<double>(result.header.shape.pixels());
}

void LaneScheduler::assisted(std::int64_t nanoseconds) {
  assisted_ns_ += nanoseconds;
  balance();
}

void LaneScheduler::lost(std::chrono::nanoseconds each) {
  std::vector<Broken> broken;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t ready = count_ready();
    const bool starting = std::ranges::any_of(
        lanes_, [](const LaneState& state) { return state.started && !state.ready && !state.broken; });
    const bool changed = ready != ready_before_ || starting;
    if (!changed && each - lost_before_ < capacity_.lane_patience) return;
    ready_before_ = ready;
    lost_before_ = each;
    if (!changed) start_next(broken);
  }
  report(std::move(broken));
}

std::vector<std::string> LaneScheduler::take_notes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> notes = std::exchange(notes_, {});
  for (std::string& warning : take_device_warnings()) notes.push_back(std::move(warning));
  return notes;
}

std::vector<std::string> LaneScheduler::devices() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const LaneState& state : lanes_) {
    if (state.ready) names.push_back(state.lane->name() + " (" + state.lane->device_name() + ")");
  }
  return names;
}

std::string LaneScheduler::note() const {
  const std::lock_guard lock(mutex_);
  return capacity_.note;
}

std::size_t LaneScheduler::started() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(lanes_, &LaneState::started));
}

// Holds the workers while the lanes are full: decoding faster than the lanes process would only fill memory.
// While lanes start, images may be decoded ahead.
void LaneScheduler::balance() {
  {
    const std::lock_guard lock(mutex_);
    const bool ready = count_ready() > 0;
    const bool full = finding_ ? waiting_.size() >= kMaxQueuedBeforeStart
                               : usable_ && waiting() >= (ready ? 2 : kMaxWaitingBeforeStart);
    if (full && ready) assist_.lanes_are_full();
    if (usable_ && is_idle()) assist_.lane_is_idle();
    queue_.hold(full && !(settings_.host_helps && !assist_.is_exhausted()));
    if (!started_) return;
  }
  lost((queue_.held_time() + std::chrono::nanoseconds(assisted_ns_)) / workers_);
}

void LaneScheduler::report(std::vector<Broken> broken) {
  for (Broken& one : broken) {
    report(one.lane, one.error, one.last);
    for (EntryPointer& image : one.left) return_image(std::move(image));
  }
}

// `lane` is empty if there was none.
void LaneScheduler::report(const std::string& lane, const Error& error, bool last) {
  const bool over = last && !settings_.host_helps;
  {
    const std::lock_guard lock(mutex_);
    // If the batch is over, images still being opened must not go to a worker.
    if (last && !over) usable_ = false;
    if (!over) notes_.push_back((lane.empty() ? "cuda" : lane) + ": not used: " + error.what());
  }
  if (over) events_.over(Error(ErrorKind::device, (lane.empty() ? "" : lane + ": ") + error.what()));
  balance();
}

void LaneScheduler::begin_again(std::set<std::size_t>& marked, EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    marked.insert(entry->result.item);
  }
  queue_.begin_again(std::move(entry));
}

// ---- under mutex_ -----------------------------------------------------------------------------------

bool LaneScheduler::is_taken(BatchEntry& entry, std::size_t left, std::vector<Broken>& broken) {
  const std::int64_t pixels = entry.result.header.shape.pixels();
  const std::string lacking = why_not_on_cuda(entry.job->plan());
  ++opened_;
  if (!settings_.host_helps) {
    if (!finding_ && !usable_) return false;
    if (!lacking.empty()) throw Error(ErrorKind::usage, lacking + "; use --device cpu");
    return true;
  }
  if (!lacking.empty() || finding_ || !usable_ || pixels < capacity_.lane_pixels) return false;
  pixels_seen_ += static_cast<double>(pixels);
  const double to_come = pixels_seen_ / static_cast<double>(opened_) * static_cast<double>(left);
  if (!started_ && to_come >= static_cast<double>(capacity_.lane_start_pixels)) {
    started_ = true;
    start_first(broken);
  }
  if (count_ready() == 0) return false;
  if (waiting() < 1) return true;
  entry.assistance = assist_.begin();
  return entry.assistance == nullptr;
}

ImageRoute LaneScheduler::route_of(const BatchEntry& entry, bool taken) const {
  const bool too_large = too_large_.contains(entry.result.item) || max_image_bytes(entry) >= too_large_bytes_;
  if (!too_large) return taken ? ImageRoute::device : ImageRoute::host;
  if (!settings_.host_helps) return ImageRoute::device_in_bands;
  if (!taken || without_bands_.contains(entry.result.item) || waiting() > 0)
    return ImageRoute::host_for_memory;
  const auto pixels = static_cast<double>(entry.result.header.shape.pixels());
  const double stages_ns = host_pixels_ > 0 ? host_stages_ns_ / host_pixels_ * pixels : 0;
  return bands_pay(capacity_.lane_cost, entry.result.header.shape.pixels(), stages_ns, settings_.threads)
             ? ImageRoute::device_in_bands
             : ImageRoute::host_for_memory;
}

bool LaneScheduler::has_codecs() const {
  if (lanes_.empty()) return settings_.lanes_have_codecs;
  return std::ranges::all_of(lanes_, [](const LaneState& state) { return state.lane->has_codecs(); });
}

bool LaneScheduler::all_broken() const {
  return std::ranges::all_of(lanes_, &LaneState::broken);
}

std::size_t LaneScheduler::count_ready() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(lanes_, [](const LaneState& state) { return state.ready && !state.broken; }));
}

// Whether no image is waiting while a ready lane has none in progress.
bool LaneScheduler::is_idle() const {
  return waiting_.empty() && std::ranges::any_of(lanes_, [](const LaneState& state) {
           return state.ready && !state.broken && !state.in_use && state.free.size() == state.lane->slots();
         });
}

// Returns how many times the waiting images would fill the slots of the started lanes.
double LaneScheduler::waiting() const {
  double images = 0;
  double pixels = 0;  // capacity of the slots
  for (const LaneState& state : lanes_) {
    if (!state.started) continue;
    const LaneLoad most = state.lane->most();
    const auto slots = static_cast<double>(state.lane->slots());
    images += slots * static_cast<double>(most.images);
    pixels += slots * static_cast<double>(most.pixels);
  }
  const double by_images = static_cast<double>(waiting_.size()) / std::max(images, 1.0);
  return pixels > 0 ? std::max(by_images, static_cast<double>(waiting_pixels_) / pixels) : by_images;
}

// Starts the first lane, or all lanes if lane_patience is 0.
void LaneScheduler::start_first(std::vector<Broken>& broken) {
  const std::size_t count = capacity_.lane_patience.count() > 0 ? 1 : lanes_.size();
  for (std::size_t i = 0; i < count; ++i) start_next(broken);
}

void LaneScheduler::start_next(std::vector<Broken>& broken) {
  for (LaneState& state : lanes_) {
    if (closing_) return;
    if (state.started || state.broken) continue;
    const std::optional<Error> error = start_threads_of(state);
    state.started = !error;
    if (!error) return;
    mark_broken(state, *error, broken);
  }
}

std::optional<Error> LaneScheduler::start_threads_of(LaneState& state) {
  std::optional<Error> error = error_of([&] {
    try {
      // In this order: without a launcher nothing is ever launched, and the collector ends.
      state.collector = capacity_.start_thread([this, &state] { collect_all(state); });
      state.launcher = capacity_.start_thread([this, &state] { launch_all(state); });
    } catch (const std::system_error&) {
      throw Error(ErrorKind::device, "cannot start a thread; check the limit on processes (ulimit -u)");
    }
  });
  if (error) state.launching = false;
  return error;
}

void LaneScheduler::mark_broken(LaneState& state, const Error& error, std::vector<Broken>& broken) {
  Broken& one = broken.emplace_back(Broken{state.lane->name(), error, false, {}});
  state.broken = true;
  one.last = all_broken();
  if (one.last) {
    one.left.swap(waiting_);
    waiting_pixels_ = 0;
  }
  changed_.notify_all();
}

}  // namespace imgpipe
