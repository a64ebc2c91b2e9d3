// The threads that drive the lanes: per lane, one launches and one collects results.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"
#include "pipeline/jobs/lane_scheduler.h"

namespace imgpipe {

// For threads without a caller: an exception of `action` fails the image, unless it has been passed on.
template <class Action>
void LaneScheduler::or_fail(EntryPointer entry, const Action& action) {
  const std::optional<Error> error = error_of([&] { retry_on_bad_alloc([&] { action(entry); }); });
  if (error && entry) events_.failed(std::move(entry), *error);
}

void LaneScheduler::return_image(EntryPointer image) {
  or_fail(std::move(image), [&](EntryPointer& own) { queue_.begin_again(std::move(own)); });
}

void LaneScheduler::launch_all(LaneState& state) {
  const std::optional<Error> error = error_of([&] { state.lane->start(); });
  if (error) break_lane(state, *error);
  std::unique_lock lock(mutex_);
  state.ready = !error;
  lock.unlock();
  changed_.notify_all();
  balance();
  lock.lock();
  for (;;) {
    changed_.wait(lock, [&] {
      return closing_ || state.broken || (!waiting_.empty() && !state.free.empty() && !state.in_use);
    });
    if (closing_ || state.broken) break;
    std::list<EntryPointer> images = take_group(state.lane->most());
    const std::size_t slot = state.free.back();
    state.free.pop_back();
    lock.unlock();
    launch_group(state, slot, std::move(images));
    balance();
    lock.lock();
  }
  state.launching = false;
  lock.unlock();
  changed_.notify_all();
}

// Takes the first waiting images that fit into one launch.
std::list<EntryPointer> LaneScheduler::take_group(const LaneLoad& most) {
  std::list<EntryPointer> images;
  std::int64_t pixels = 0;
  while (!waiting_.empty() && images.size() < std::max<std::size_t>(most.images, 1)) {
    const std::int64_t next = lane_pixels(*waiting_.front());
    pixels += next;
    const bool alone = waiting_.front()->job->lane_image().alone;
    if (!images.empty() && (alone || pixels > most.pixels)) break;
    waiting_pixels_ -= next;
    images.splice(images.end(), waiting_, waiting_.begin());
    if (alone) break;
  }
  return images;
}

std::optional<Error> LaneScheduler::try_launch(LaneState& state, Group& group) {
  return error_of([&] {
    group.launched.clear();
    for (const EntryPointer& image : group.images) group.launched.push_back(&image->job->lane_image());
    state.lane->launch(group.slot, group.launched);
  });
}

// Puts the images first in the queue, each to be launched alone. If all lanes are broken, returns the images
// instead.
void LaneScheduler::requeue_individually(std::list<EntryPointer>& images) {
  for (EntryPointer& image : images) image->job->lane_image().alone = true;
  {
    const std::lock_guard lock(mutex_);
    if (!all_broken()) {
      for (const EntryPointer& image : images) waiting_pixels_ += lane_pixels(*image);
      waiting_.splice(waiting_.begin(), images);
    }
  }
  changed_.notify_all();
  for (EntryPointer& image : images) return_image(std::move(image));
  images.clear();
}

void LaneScheduler::launch_group(LaneState& state, std::size_t slot, std::list<EntryPointer> images) {
  Group group{slot, std::move(images), {}};
  std::optional<Error> error = try_launch(state, group);
  if (error && error->kind() == ErrorKind::memory) {
    // The other slots may hold the missing memory: try again with the device to itself and the first image
    // alone; if necessary, without encoding on the device.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state.running.empty(); });
    lock.unlock();
    std::list<EntryPointer> others;
    others.splice(others.begin(), group.images, std::next(group.images.begin()), group.images.end());
    requeue_individually(others);
    error = error_of([&] { state.lane->release_memory(); });
    if (!error) error = try_launch(state, group);
    if (error && error->kind() == ErrorKind::memory) {
      group.images.front()->job->lane_image().coded.form = {};
      error = try_launch(state, group);
    }
  }
  std::list<EntryPointer> failed;
  if (error) failed.swap(group.images);
  {
    const std::lock_guard lock(mutex_);
    if (error) {
      state.free.push_back(slot);
    } else {
      state.running.push_back(std::move(group));
    }
  }
  changed_.notify_all();
  if (error) end_images(state, std::move(failed), error, true);
}

void LaneScheduler::collect_all(LaneState& state) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !state.running.empty() || !state.launching; });
    if (state.running.empty()) return;
    Group& group = state.running.front();  // a stable reference: capacity is reserved
    lock.unlock();
    const std::optional<Error> error = error_of([&] { state.lane->finish(group.slot, group.launched); });
    lock.lock();
    std::list<EntryPointer> images = std::move(group.images);
    state.free.push_back(group.slot);
    state.running.erase(state.running.begin());
    lock.unlock();
    changed_.notify_all();
    end_images(state, std::move(images), error);
    balance();
    lock.lock();
  }
}

// If a group lacked memory, its images are launched again one by one.
void LaneScheduler::end_images(LaneState& state, std::list<EntryPointer> images,
                               const std::optional<Error>& error, bool had_all_memory) {
  const bool is_broken = error && error->kind() == ErrorKind::device;
  if (error && !is_broken && images.size() > 1) return requeue_individually(images);
  for (EntryPointer& image : images) {
    if (is_broken) {
      return_image(std::move(image));
    } else {
      const std::optional<Error> own = error ? error : image->job->lane_image().error;
      end_image(state, std::move(image), own, had_all_memory);
    }
  }
  if (is_broken) break_lane(state, *error);
}

// An image that the device cannot decode, or for which it lacks memory, begins again on another route.
// `had_all_memory`: all of the device's memory was available to this image.
void LaneScheduler::end_image(LaneState& state, EntryPointer image, const std::optional<Error>& own,
                              bool had_all_memory) {
  const CodedImage& coded = image->job->lane_image().coded;
  const bool lacks_memory = own && own->kind() == ErrorKind::memory;
  if (own && !lacks_memory && coded.is_intact) return events_.failed(std::move(image), *own);
  or_fail(std::move(image), [&](EntryPointer& entry) {
    LaneImage& made = entry->job->lane_image();
    if (!made.coded.is_intact || (lacks_memory && made.coded.jpeg)) return refuse(std::move(entry));
    if (lacks_memory) {
      if (had_all_memory) {
        const std::lock_guard lock(mutex_);
        too_large_bytes_ = std::min(too_large_bytes_, max_image_bytes(*entry));
      }
      return begin_again(too_large_, std::move(entry));
    }
    made.source = Image();
    made.coded.jpeg.reset();
    entry->result.device = state.lane->name();
    queue_.queue_for_encoding(std::move(entry));
  });
}

void LaneScheduler::break_lane(LaneState& state, const Error& error) {
  std::vector<Broken> broken;
  retry_on_bad_alloc([&] {
    const std::lock_guard lock(mutex_);
    if (state.broken) return;
    mark_broken(state, error, broken);
    const bool works =
        std::ranges::any_of(lanes_, [](const LaneState& other) { return other.started && !other.broken; });
    if (!works) start_next(broken);
  });
  report(std::move(broken));
}

// Calls `use` with a lane that has no image in progress and holds no idle memory. A lane for which `use`
// returns an error breaks. Returns false if the lane broke, or if all lanes are broken.
bool LaneScheduler::use_exclusively(const std::function<std::optional<Error>(Lane&)>& use) {
  std::unique_lock lock(mutex_);
  auto state = lanes_.end();
  changed_.wait(lock, [&] {
    state = std::ranges::find_if(
        lanes_, [](const LaneState& one) { return one.ready && !one.broken && !one.in_use; });
    return state != lanes_.end() || all_broken();
  });
  if (state == lanes_.end()) return false;
  state->in_use = true;
  changed_.wait(lock, [&] { return state->broken || state->free.size() == state->lane->slots(); });
  const bool broke = state->broken;
  lock.unlock();
  std::optional<Error> error;
  if (!broke) error = error_of([&] { state->lane->release_memory(); });
  if (!broke && !error) error = use(*state->lane);
  lock.lock();
  state->in_use = false;
  lock.unlock();
  changed_.notify_all();
  if (error) break_lane(*state, *error);
  return !broke && !error;
}

}  // namespace imgpipe
