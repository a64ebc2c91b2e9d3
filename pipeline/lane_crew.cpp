#include "pipeline/lane_crew.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "images/text.h"

namespace imgpipe {
namespace {

// Runs `work`; whatever it throws comes back as an Error.
template <class Work>
std::optional<Error> error_of(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::memory, "not enough memory");
  } catch (const std::exception& error) {
    return Error(ErrorKind::device, "internal error: " + printable(error.what()));
  }
}

}  // namespace

LaneCrew::LaneCrew(std::vector<std::unique_ptr<Lane>> lanes, std::chrono::nanoseconds patience,
                   LaneEvents events)
    : patience_(patience), events_(std::move(events)), members_(lanes.size()) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Member& member = members_[i];
    member.lane = std::move(lanes[i]);
    for (std::size_t slot = member.lane->slots(); slot-- > 0;) member.free.push_back(slot);
  }
}

void LaneCrew::end() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  for (Member& member : members_) {
    if (member.launcher.joinable()) member.launcher.join();
    if (member.collector.joinable()) member.collector.join();
  }
}

void LaneCrew::start() {
  const std::lock_guard lock(mutex_);
  const std::size_t count = patience_.count() > 0 ? 1 : members_.size();
  for (std::size_t i = 0; i < count; ++i) start_next();
}

void LaneCrew::lost(std::chrono::nanoseconds each) {
  const std::lock_guard lock(mutex_);
  const std::size_t ready = count_ready();
  const bool starting = std::ranges::any_of(
      members_, [](const Member& member) { return member.started && !member.ready && !member.broken; });
  const bool changed = ready != ready_before_ || starting;
  if (!changed && each - lost_before_ < patience_) return;
  ready_before_ = ready;
  lost_before_ = each;
  if (!changed) start_next();
}

bool LaneCrew::push(std::unique_ptr<LaneImage>& image) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::all_of(members_, &Member::broken)) return false;
    queue_.push_back(std::move(image));
  }
  changed_.notify_all();
  return true;
}

std::size_t LaneCrew::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

std::size_t LaneCrew::slots() const {
  const std::lock_guard lock(mutex_);
  std::size_t slots = 0;
  for (const Member& member : members_) slots += member.started ? member.lane->slots() : 0;
  return slots;
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
  events_.changed();
  lock.lock();
  for (;;) {
    changed_.wait(lock,
                  [&] { return closing_ || member.broken || (!queue_.empty() && !member.free.empty()); });
    if (closing_ || member.broken) break;
    std::unique_ptr<LaneImage> image = std::move(queue_.front());
    queue_.pop_front();
    const std::size_t slot = member.free.back();
    member.free.pop_back();
    lock.unlock();
    launch_one(member, slot, std::move(image));
    events_.changed();
    lock.lock();
  }
  member.launching = false;
  lock.unlock();
  changed_.notify_all();
}

void LaneCrew::launch_one(Member& member, std::size_t slot, std::unique_ptr<LaneImage> image) {
  std::optional<Error> error = error_of([&] { member.lane->launch(slot, *image); });
  if (error && error->kind() == ErrorKind::memory) {
    // What the other slots hold may be what is missing: once more with the device to itself.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return member.running.empty(); });
    lock.unlock();
    error = error_of([&] {
      member.lane->release_memory();
      member.lane->launch(slot, *image);
    });
  }
  if (!error) {
    {
      const std::lock_guard lock(mutex_);
      member.running.push_back({slot, std::move(image)});
    }
    changed_.notify_all();
    return;
  }
  give_back(member, slot);
  if (error->kind() == ErrorKind::device) {
    events_.returned(std::move(image));
    break_lane(member, *error);
  } else {
    events_.failed(std::move(image), *error);
  }
}

void LaneCrew::collect_all(Member& member) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !member.running.empty() || !member.launching; });
    if (member.running.empty()) return;
    Running& running = member.running.front();  // a deque's elements stay where they are
    lock.unlock();
    const std::optional<Error> error = error_of([&] { member.lane->finish(running.slot, *running.image); });
    lock.lock();
    std::unique_ptr<LaneImage> image = std::move(running.image);
    member.free.push_back(running.slot);
    member.running.pop_front();
    lock.unlock();
    changed_.notify_all();
    if (!error) {
      events_.finished(std::move(image), member.lane->name());
    } else if (error->kind() == ErrorKind::device) {
      events_.returned(std::move(image));
      break_lane(member, *error);
    } else {
      events_.failed(std::move(image), *error);
    }
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
  std::deque<std::unique_ptr<LaneImage>> left;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (member.broken) return;
    member.broken = true;
    last = std::ranges::all_of(members_, &Member::broken);
    if (last) left.swap(queue_);
    const bool works =
        std::ranges::any_of(members_, [](const Member& other) { return other.started && !other.broken; });
    if (!works) start_next();
  }
  changed_.notify_all();
  events_.broken(member.lane->name(), error, last);
  for (std::unique_ptr<LaneImage>& image : left) events_.returned(std::move(image));
}

// ---- under mutex_ -----------------------------------------------------------------------------------

void LaneCrew::start_next() {
  const auto next = std::ranges::find(members_, false, &Member::started);
  if (closing_ || next == members_.end()) return;
  Member& member = *next;
  member.started = true;
  member.launcher = std::thread([this, &member] { launch_all(member); });
  member.collector = std::thread([this, &member] { collect_all(member); });
}

std::size_t LaneCrew::count_ready() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members_, [](const Member& member) { return member.ready && !member.broken; }));
}

}  // namespace imgpipe
