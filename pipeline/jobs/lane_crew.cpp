#include "pipeline/jobs/lane_crew.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"

namespace imgpipe {
namespace {

// On the device, at least; pixels of 16 bits count twice.
std::int64_t pixels_of(const EntryPointer& image) {
  const auto weighed = [](const Shape& shape) { return shape.pixels() * sample_bytes(shape.sample); };
  return std::max(weighed(image->result.header.shape), weighed(image->result.output));
}

}  // namespace

LaneCrew::LaneCrew(std::vector<std::unique_ptr<Lane>> lanes, std::chrono::nanoseconds patience,
                   LaneEvents events, ThreadStarter start_thread)
    : patience_(patience),
      events_(std::move(events)),
      start_thread_(std::move(start_thread)),
      members_(lanes.size()) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Member& member = members_[i];
    member.lane = std::move(lanes[i]);
    for (std::size_t slot = member.lane->slots(); slot-- > 0;) member.free.push_back(slot);
    member.running.reserve(member.free.size());  // later there may be no memory, and nobody to tell
  }
}

void LaneCrew::end() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
    queued_pixels_ = 0;
  }
  changed_.notify_all();
  for (Member& member : members_) {
    if (member.launcher.joinable()) member.launcher.join();
    if (member.collector.joinable()) member.collector.join();
  }
}

void LaneCrew::start() {
  std::vector<Broken> broken;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t count = patience_.count() > 0 ? 1 : members_.size();
    for (std::size_t i = 0; i < count; ++i) start_next(broken);
  }
  say(std::move(broken));
}

void LaneCrew::lost(std::chrono::nanoseconds each) {
  std::vector<Broken> broken;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t ready = count_ready();
    const bool starting = std::ranges::any_of(
        members_, [](const Member& member) { return member.started && !member.ready && !member.broken; });
    const bool changed = ready != ready_before_ || starting;
    if (!changed && each - lost_before_ < patience_) return;
    ready_before_ = ready;
    lost_before_ = each;
    if (!changed) start_next(broken);
  }
  say(std::move(broken));
}

bool LaneCrew::push(EntryPointer& image) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::all_of(members_, &Member::broken)) return false;
    queue_.push_back(std::move(image));
    queued_pixels_ += pixels_of(queue_.back());
  }
  changed_.notify_all();
  return true;
}

bool LaneCrew::use_alone(const std::function<std::optional<Error>(Lane&)>& use) {
  std::unique_lock lock(mutex_);
  auto member = members_.end();
  changed_.wait(lock, [&] {
    member = std::ranges::find_if(members_,
                                  [](const Member& one) { return one.ready && !one.broken && !one.in_use; });
    return member != members_.end() || std::ranges::all_of(members_, &Member::broken);
  });
  if (member == members_.end()) return false;
  member->in_use = true;
  changed_.wait(lock, [&] { return member->broken || member->free.size() == member->lane->slots(); });
  const bool broke = member->broken;
  lock.unlock();
  std::optional<Error> error;
  if (!broke) error = error_of([&] { member->lane->release_memory(); });
  if (!broke && !error) error = use(*member->lane);
  lock.lock();
  member->in_use = false;
  lock.unlock();
  changed_.notify_all();
  if (error) break_lane(*member, *error);
  return !broke && !error;
}

double LaneCrew::waiting() const {
  const std::lock_guard lock(mutex_);
  double images = 0;
  double pixels = 0;  // that the slots hold
  for (const Member& member : members_) {
    if (!member.started) continue;
    const LaneLoad most = member.lane->most();
    const auto slots = static_cast<double>(member.lane->slots());
    images += slots * static_cast<double>(most.images);
    pixels += slots * static_cast<double>(most.pixels);
  }
  const double by_images = static_cast<double>(queue_.size()) / std::max(images, 1.0);
  return pixels > 0 ? std::max(by_images, static_cast<double>(queued_pixels_) / pixels) : by_images;
}

std::size_t LaneCrew::slots() const {
  const std::lock_guard lock(mutex_);
  std::size_t slots = 0;
  for (const Member& member : members_) slots += member.started ? member.lane->slots() : 0;
  return slots;
}

bool LaneCrew::has_codecs() const {
  return std::ranges::all_of(members_, [](const Member& member) { return member.lane->has_codecs(); });
}

bool LaneCrew::is_idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && std::ranges::any_of(members_, [](const Member& member) {
           return member.ready && !member.broken && !member.in_use &&
                  member.free.size() == member.lane->slots();
         });
}

bool LaneCrew::ready() const {
  const std::lock_guard lock(mutex_);
  return count_ready() > 0;
}

std::vector<std::string> LaneCrew::devices() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Member& member : members_) {
    if (member.ready) names.push_back(member.lane->name() + " (" + member.lane->device_name() + ")");
  }
  return names;
}

void LaneCrew::launch_all(Member& member) {
  const std::optional<Error> error = error_of([&] { member.lane->start(); });
  if (error) break_lane(member, *error);
  std::unique_lock lock(mutex_);
  member.ready = !error;
  lock.unlock();
  changed_.notify_all();
  events_.changed();
  lock.lock();
  for (;;) {
    changed_.wait(lock, [&] {
      return closing_ || member.broken || (!queue_.empty() && !member.free.empty() && !member.in_use);
    });
    if (closing_ || member.broken) break;
    std::list<EntryPointer> images = take_group(member.lane->most());
    const std::size_t slot = member.free.back();
    member.free.pop_back();
    lock.unlock();
    launch_group(member, slot, std::move(images));
    events_.changed();
    lock.lock();
  }
  member.launching = false;
  lock.unlock();
  changed_.notify_all();
}

std::optional<Error> LaneCrew::try_launch(Member& member, Running& running) {
  return error_of([&] {
    running.group.clear();
    for (const EntryPointer& image : running.images) running.group.push_back(&image->job->lane_image());
    member.lane->launch(running.slot, running.group);
  });
}

// Each by itself, before all others. Those that wait for no lane any more go back.
void LaneCrew::queue_again(std::list<EntryPointer>& images) {
  for (EntryPointer& image : images) image->job->lane_image().alone = true;
  {
    const std::lock_guard lock(mutex_);
    if (!std::ranges::all_of(members_, &Member::broken)) {
      for (const EntryPointer& image : images) queued_pixels_ += pixels_of(image);
      queue_.splice(queue_.begin(), images);
    }
  }
  changed_.notify_all();
  for (EntryPointer& image : images) events_.returned(std::move(image));
  images.clear();
}

void LaneCrew::launch_group(Member& member, std::size_t slot, std::list<EntryPointer> images) {
  Running running{slot, std::move(images), {}};
  std::optional<Error> error = try_launch(member, running);
  if (error && error->kind() == ErrorKind::memory) {
    // What the other slots hold may be what is missing: once more with the device to itself, the first image
    // alone; and if need be its pixels alone.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return member.running.empty(); });
    lock.unlock();
    std::list<EntryPointer> others;
    others.splice(others.begin(), running.images, std::next(running.images.begin()), running.images.end());
    queue_again(others);
    error = error_of([&] { member.lane->release_memory(); });
    if (!error) error = try_launch(member, running);
    if (error && error->kind() == ErrorKind::memory) {
      running.images.front()->job->lane_image().coded.form = {};
      error = try_launch(member, running);
    }
  }
  if (!error) {
    {
      const std::lock_guard lock(mutex_);
      member.running.push_back(std::move(running));
    }
    changed_.notify_all();
    return;
  }
  give_back(member, slot);
  end_images(member, std::move(running.images), error, true);
}

// A group without enough memory goes one by one; what the device lacks the memory to decode is decoded
// elsewhere.
void LaneCrew::end_images(Member& member, std::list<EntryPointer> images, const std::optional<Error>& error,
                          bool had_all_memory) {
  const bool is_broken = error && error->kind() == ErrorKind::device;
  if (error && !is_broken && images.size() > 1) return queue_again(images);
  for (EntryPointer& image : images) {
    const LaneImage& made = image->job->lane_image();
    const std::optional<Error>& own = error ? error : made.error;
    if (is_broken) {
      events_.returned(std::move(image));
    } else if (!made.coded.in_order || (own && own->kind() == ErrorKind::memory && made.coded.jpeg)) {
      events_.refused(std::move(image));
    } else if (own && own->kind() == ErrorKind::memory) {
      events_.too_large(std::move(image), had_all_memory);
    } else if (own) {
      events_.failed(std::move(image), *own);
    } else {
      events_.finished(std::move(image), member.lane->name());
    }
  }
  if (is_broken) break_lane(member, *error);
}

void LaneCrew::collect_all(Member& member) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !member.running.empty() || !member.launching; });
    if (member.running.empty()) return;
    Running& running = member.running.front();  // stays where it is: there is room for all
    lock.unlock();
    const std::optional<Error> error = error_of([&] { member.lane->finish(running.slot, running.group); });
    lock.lock();
    std::list<EntryPointer> images = std::move(running.images);
    member.free.push_back(running.slot);
    member.running.erase(member.running.begin());
    lock.unlock();
    changed_.notify_all();
    end_images(member, std::move(images), error);
    events_.changed();
    lock.lock();
  }
}

void LaneCrew::give_back(Member& member, std::size_t slot) {
  {
    const std::lock_guard lock(mutex_);
    member.free.push_back(slot);
  }
  changed_.notify_all();
}

void LaneCrew::break_lane(Member& member, const Error& error) {
  std::vector<Broken> broken;
  with_patience([&] {
    const std::lock_guard lock(mutex_);
    if (member.broken) return;
    mark_broken(member, error, broken);
    const bool works =
        std::ranges::any_of(members_, [](const Member& other) { return other.started && !other.broken; });
    if (!works) start_next(broken);
  });
  say(std::move(broken));
}

void LaneCrew::say(std::vector<Broken> broken) {
  for (Broken& one : broken) {
    events_.broken(one.lane, one.error, one.last);
    for (EntryPointer& image : one.left) events_.returned(std::move(image));
  }
}

// ---- under mutex_ -----------------------------------------------------------------------------------

// What waits, as far as it goes into one launch.
std::list<EntryPointer> LaneCrew::take_group(const LaneLoad& most) {
  std::list<EntryPointer> images;
  std::int64_t pixels = 0;
  while (!queue_.empty() && images.size() < std::max<std::size_t>(most.images, 1)) {
    pixels += pixels_of(queue_.front());
    const bool alone = queue_.front()->job->lane_image().alone;
    if (!images.empty() && (alone || pixels > most.pixels)) break;
    queued_pixels_ -= pixels_of(queue_.front());
    images.splice(images.end(), queue_, queue_.begin());
    if (alone) break;
  }
  return images;
}

void LaneCrew::start_next(std::vector<Broken>& broken) {
  for (Member& member : members_) {
    if (closing_) return;
    if (member.started || member.broken) continue;
    const std::optional<Error> error = start_threads_of(member);
    member.started = !error;
    if (!error) return;
    mark_broken(member, *error, broken);
  }
}

std::optional<Error> LaneCrew::start_threads_of(Member& member) {
  std::optional<Error> error = error_of([&] {
    try {
      // This order: without a launcher nothing is ever launched, and the collector ends.
      member.collector = start_thread_([this, &member] { collect_all(member); });
      member.launcher = start_thread_([this, &member] { launch_all(member); });
    } catch (const std::system_error&) {
      throw Error(ErrorKind::device, "cannot start a thread for it: a limit of processes (ulimit -u)");
    }
  });
  if (error) member.launching = false;
  return error;
}

void LaneCrew::mark_broken(Member& member, const Error& error, std::vector<Broken>& broken) {
  Broken& said = broken.emplace_back(Broken{member.lane->name(), error, false, {}});
  member.broken = true;
  said.last = std::ranges::all_of(members_, &Member::broken);
  if (said.last) {
    said.left.swap(queue_);
    queued_pixels_ = 0;
  }
  changed_.notify_all();
}

std::size_t LaneCrew::count_ready() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members_, [](const Member& member) { return member.ready && !member.broken; }));
}

}  // namespace imgpipe
