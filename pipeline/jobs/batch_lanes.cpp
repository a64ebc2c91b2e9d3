#include "pipeline/jobs/batch_lanes.h"

#include <algorithm>
#include <utility>

#include "pipeline/device.h"
#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"

namespace imgpipe {
namespace {

// What waits for lanes that are not found, or not started, takes memory and saves little time.
constexpr std::size_t kMostEarly = 1024;
constexpr double kWaitForAStart = 8;

}  // namespace

BatchLanes::BatchLanes(const BatchSettings& settings, BatchQueue& queue, int workers, Events events)
    : settings_(settings),
      queue_(queue),
      workers_(workers),
      events_(std::move(events)),
      finding_(settings.find_lanes != nullptr),
      help_(std::make_shared<LaneHelp>(workers)) {}

void BatchLanes::find() {
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
    usable_ = crew_ != nullptr;
    started_ = start = usable_ && offer_.lane_start_pixels == 0;
  }
  if (start) crew_->start();
  if (error) lane_broke("", *error, true);
  end_finding();
}

void BatchLanes::end_finding() {
  std::vector<EntryPointer> early;
  {
    const std::lock_guard lock(mutex_);
    finding_ = false;
    early.swap(early_);
  }
  for (EntryPointer& entry : early) give_to_crew(std::move(entry));
  balance();
}

void BatchLanes::end() {
  if (crew_) crew_->end();  // not reset(): events of its last moments still look at crew_
}

void BatchLanes::take(BatchEntry& entry) {
  const bool taken = is_taken(entry);
  const std::lock_guard lock(mutex_);
  entry.result.route = route_of(entry, taken);
  entry.to_lane = entry.result.route == ImageRoute::device;
  if (!entry.to_lane || entry.job->reader().jpeg_scan() == nullptr) return;
  const bool has_codecs = crew_ == nullptr ? settings_.lanes_have_codecs : crew_->has_codecs();
  entry.lane_decodes = has_codecs && !refused_.contains(entry.result.item);
}

// Under mutex_.
ImageRoute BatchLanes::route_of(const BatchEntry& entry, bool taken) const {
  const bool too_large =
      too_large_.contains(entry.result.item) || most_image_bytes(entry) >= too_large_bytes_;
  if (!too_large) return taken ? ImageRoute::device : ImageRoute::host;
  if (!settings_.host_helps) return ImageRoute::device_in_bands;
  if (!taken || without_bands_.contains(entry.result.item) || crew_->waiting() > 0)
    return ImageRoute::host_for_memory;
  const auto pixels = static_cast<double>(entry.result.header.shape.pixels());
  const double stages_ns = host_pixels_ > 0 ? host_stages_ns_ / host_pixels_ * pixels : 0;
  return bands_pay(offer_.lane_cost, entry.result.header.shape.pixels(), stages_ns, settings_.threads)
             ? ImageRoute::device_in_bands
             : ImageRoute::host_for_memory;
}

bool BatchLanes::is_taken(BatchEntry& entry) {
  const std::int64_t pixels = entry.result.header.shape.pixels();
  const std::size_t left = queue_.left();
  const Step* const lacking = step_without_cuda(entry.job->plan());
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    ++opened_;
    if (!settings_.host_helps) {
      if (!finding_ && !usable_) return false;
      if (lacking != nullptr) throw Error(ErrorKind::usage, why_not_on_cuda(*lacking) + "; see --device cpu");
      return true;
    }
    if (lacking != nullptr || finding_ || !usable_ || pixels < offer_.lane_pixels) return false;
    pixels_seen_ += static_cast<double>(pixels);
    const double to_come = pixels_seen_ / static_cast<double>(opened_) * static_cast<double>(left);
    start = !started_ && to_come >= static_cast<double>(offer_.lane_start_pixels);
    if (start) started_ = true;
  }
  if (start) crew_->start();
  if (!crew_->ready()) return false;
  if (crew_->waiting() < 1) return true;
  entry.help = help_->begin();
  return entry.help == nullptr;
}

void BatchLanes::hand_over(EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (finding_) {
      early_.push_back(std::move(entry));
      if (early_.size() >= kMostEarly) queue_.hold(true);
      return;
    }
  }
  give_to_crew(std::move(entry));
}

// On threads that have nobody to throw to: what `action` throws is the image's error, if it has not gone on.
template <class Action>
void BatchLanes::or_fail(EntryPointer entry, const Action& action) {
  const std::optional<Error> error = error_of([&] { with_patience([&] { action(entry); }); });
  if (error && entry) events_.failed(std::move(entry), *error);
}

void BatchLanes::give_to_crew(EntryPointer entry) {
  LaneCrew* crew = nullptr;
  {
    const std::lock_guard lock(mutex_);
    crew = crew_.get();
  }
  or_fail(std::move(entry), [&](EntryPointer& own) {
    if (crew == nullptr || !crew->push(own)) queue_.begin_again(std::move(own));
  });
  balance();
}

void BatchLanes::refuse(EntryPointer&& entry) {
  begin_again(refused_, std::move(entry));
}

void BatchLanes::begin_again(std::set<std::size_t>& marked, EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    marked.insert(entry->result.item);
  }
  queue_.begin_again(std::move(entry));
}

bool BatchLanes::run_in_bands(EntryPointer& entry, int threads) {
  LaneCrew* crew = nullptr;
  {
    const std::lock_guard lock(mutex_);
    crew = crew_.get();
  }
  std::optional<Error> error;
  const bool works = crew->use_alone([&](Lane& lane) -> std::optional<Error> {
    entry->result.device = lane.name();
    Job wishes;
    wishes.keep_pixels = false;
    error = error_of([&] {
      const std::unique_ptr<Engine> engine = lane.make_band_engine(threads);
      (void)entry->job->run(*engine, std::move(wishes));
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

void BatchLanes::done_by_host(const BatchResult& result) {
  const std::lock_guard lock(mutex_);
  host_stages_ns_ += static_cast<double>(result.busy[static_cast<std::size_t>(Part::kernels)]);
  host_pixels_ += static_cast<double>(result.header.shape.pixels());
}

void BatchLanes::did_their_work(std::int64_t nanoseconds) {
  their_work_ns_ += nanoseconds;
  balance();
}

std::vector<std::string> BatchLanes::take_notes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> notes = std::exchange(notes_, {});
  for (std::string& warning : take_device_warnings()) notes.push_back(std::move(warning));
  return notes;
}

std::vector<std::string> BatchLanes::devices() const {
  const std::lock_guard lock(mutex_);
  return crew_ ? crew_->devices() : std::vector<std::string>();
}

std::string BatchLanes::note() const {
  const std::lock_guard lock(mutex_);
  return offer_.note;
}

LaneEvents BatchLanes::lane_events() {
  return {[this](EntryPointer entry, const std::string& lane) {
            or_fail(std::move(entry), [&](EntryPointer& own) {
              own->job->lane_image().source = Image();
              own->job->lane_image().coded.jpeg.reset();
              own->result.device = lane;
              queue_.give_to_encode(std::move(own));
            });
          },
          [this](EntryPointer entry, const Error& error) { events_.failed(std::move(entry), error); },
          [this](EntryPointer entry) {
            or_fail(std::move(entry), [&](EntryPointer& own) { queue_.begin_again(std::move(own)); });
          },
          [this](EntryPointer entry) {
            or_fail(std::move(entry), [&](EntryPointer& own) { refuse(std::move(own)); });
          },
          [this](EntryPointer entry, bool on_device) {
            or_fail(std::move(entry), [&](EntryPointer& own) {
              if (on_device) {
                const std::lock_guard lock(mutex_);
                too_large_bytes_ = std::min(too_large_bytes_, most_image_bytes(*own));
              }
              begin_again(too_large_, std::move(own));
            });
          },
          [this](const std::string& lane, const Error& error, bool last) { lane_broke(lane, error, last); },
          [this] { balance(); }};
}

// Decoding faster than the lanes take would only fill memory. While they start it fills the time.
void BatchLanes::balance() {
  {
    const std::lock_guard lock(mutex_);
    // While lanes start, more may wait: it fills the time.
    const bool ready = usable_ && crew_->ready();
    const bool full = usable_ && crew_->waiting() >= (ready ? 2 : kWaitForAStart);
    if (full && ready) help_->lanes_are_full();
    if (usable_ && crew_->is_idle()) help_->lane_is_idle();
    queue_.hold(full && !(settings_.host_helps && !help_->is_exhausted()));
    if (!started_) return;
  }
  const std::chrono::nanoseconds lost = queue_.held_time() + std::chrono::nanoseconds(their_work_ns_);
  crew_->lost(lost / workers_);  // may speak of a lane that it cannot start: with no lock held
}

// `lane` is empty when there was none to break.
void BatchLanes::lane_broke(const std::string& lane, const Error& error, bool last) {
  const bool over = last && !settings_.host_helps;
  {
    const std::lock_guard lock(mutex_);
    // Where the batch is over, images that are being opened still go to no worker.
    if (last && !over) usable_ = false;
    if (!over) notes_.push_back((lane.empty() ? "cuda" : lane) + " is not used: " + error.what());
  }
  if (over) events_.over(Error(ErrorKind::device, (lane.empty() ? "" : lane + ": ") + error.what()));
  balance();
}

}  // namespace imgpipe
