// The lanes of a batch: which images go to them, when more are started, and the threads that drive them.
//
//   push() --> waiting_ --> launcher of a lane with a free slot --> slot: a group of images
//                                                                     |
//            BatchQueue: encode, or begin again <-- collector <-------+
//
// One lock, mutex_, is over all of it; docs/hacking.md, "Who waits for what", has the diagram.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "images/error.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/batch_entry.h"
#include "pipeline/jobs/batch_queue.h"
#include "pipeline/jobs/host_assist.h"
#include "pipeline/lane.h"

namespace imgpipe {

// Thread-safe. An image that is pushed ends in the queue, or as failed.
class LaneScheduler {
 public:
  // Called from any thread, without the lock.
  struct Events {
    std::function<void(EntryPointer, const Error&)> failed;  // the image's own fault
    std::function<void(const Error&)> over;                  // the batch cannot go on without a lane
  };

  // `settings` and `queue` stay where they are.
  LaneScheduler(const BatchSettings& settings, BatchQueue& queue, int workers, Events events);
  ~LaneScheduler() { end(); }
  LaneScheduler(const LaneScheduler&) = delete;
  LaneScheduler& operator=(const LaneScheduler&) = delete;

  // Looks for the lanes, which may take long; once. Images may be pushed before.
  void find();
  // No lanes will be found any more. Part of find(), and for where it is never called.
  void end_finding();
  // Drops what waits, waits for what was launched and ends the lanes' threads. Their last images still reach
  // the queue.
  void end();

  // Sets whether an image goes to a lane, and in what form, or through a lane's device in bands; starts the
  // lanes when that begins to pay. Throws Error(usage) where it has to and they cannot do its plan.
  void choose_route(BatchEntry& entry);
  // A decoded or staged image waits for a lane, or begins again where none is left.
  void push(EntryPointer&& entry);
  // A worker found that no lane can decode an image: it begins again.
  void refuse(EntryPointer&& entry);
  // Runs an image in bands through a device that does nothing else meanwhile; waits for such a device. False:
  // the entry has gone, and begins again: the device broke, or lacks the memory for a band and the host takes
  // the image.
  [[nodiscard]] bool run_in_bands(EntryPointer& entry, int threads);
  // The host did an image.
  void done_by_host(const BatchResult& result);
  // A worker did an image in place of lanes that were full.
  void assisted(std::int64_t nanoseconds);

  // How long each worker has waited so far because the lanes were full. Beyond LaneCapacity::lane_patience
  // since a lane last was started, became ready or broke, another is started. Where the lanes are not what a
  // batch waits for, it would only cost: its start, and a second registration of every block of pinned memory
  // (two H200 with 32 processors, 2026-11-21: 0.15 s, and 2.3 ms in place of 1.0 for an image of 8 MP).
  void lost(std::chrono::nanoseconds each);

  // Lines for the user, each once.
  [[nodiscard]] std::vector<std::string> take_notes();
  // "cuda:0 (NVIDIA H200)", of the lanes that became ready.
  [[nodiscard]] std::vector<std::string> devices() const;
  // LaneCapacity::note.
  [[nodiscard]] std::string note() const;
  [[nodiscard]] std::size_t started() const;  // lanes

 private:
  struct Group {
    std::size_t slot;
    std::list<EntryPointer> images;
    std::vector<LaneImage*> launched;  // of these
  };
  struct LaneState {
    std::unique_ptr<Lane> lane;
    std::vector<std::size_t> free;  // slots
    std::vector<Group> running;     // with capacity for every slot
    bool started = false, ready = false, broken = false, launching = true;
    bool in_use = false;  // by run_in_bands()
    std::thread launcher, collector;
  };
  // A lane that broke: what is left to do about it when the lock is released.
  struct Broken {
    std::string lane;
    Error error;
    bool last;
    std::list<EntryPointer> left;  // that waited; the last one's
  };

  // ---- lane_scheduler.cpp: routes, starts. Under mutex_:
  [[nodiscard]] bool is_taken(BatchEntry& entry, std::size_t left, std::vector<Broken>& broken);
  [[nodiscard]] ImageRoute route_of(const BatchEntry& entry, bool taken) const;
  [[nodiscard]] bool has_codecs() const;
  [[nodiscard]] bool all_broken() const;
  [[nodiscard]] std::size_t count_ready() const;
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] double waiting() const;
  void start_first(std::vector<Broken>& broken);
  void start_next(std::vector<Broken>& broken);
  void mark_broken(LaneState& state, const Error& error, std::vector<Broken>& broken);
  [[nodiscard]] std::optional<Error> start_threads_of(LaneState& state);
  // Without it:
  void balance();
  void report(std::vector<Broken> broken);
  void report(const std::string& lane, const Error& error, bool last);
  void begin_again(std::set<std::size_t>& marked, EntryPointer&& entry);
  template <class Action>
  void or_fail(EntryPointer entry, const Action& action);

  // ---- lane_threads.cpp
  void launch_all(LaneState& state);
  [[nodiscard]] std::list<EntryPointer> take_group(const LaneLoad& most);  // under mutex_
  void launch_group(LaneState& state, std::size_t slot, std::list<EntryPointer> images);
  [[nodiscard]] static std::optional<Error> try_launch(LaneState& state, Group& group);
  void wait_again(std::list<EntryPointer>& images);
  void end_images(LaneState& state, std::list<EntryPointer> images, const std::optional<Error>& error,
                  bool had_all_memory = false);
  void end_image(LaneState& state, EntryPointer image, const std::optional<Error>& own, bool had_all_memory);
  void collect_all(LaneState& state);
  void break_lane(LaneState& state, const Error& error);
  void return_image(EntryPointer image);
  [[nodiscard]] bool use_alone(const std::function<std::optional<Error>(Lane&)>& use);

  const BatchSettings& settings_;
  BatchQueue& queue_;
  const int workers_;
  const Events events_;
  std::atomic<std::int64_t> assisted_ns_{0};

  mutable std::mutex mutex_;  // of all that follows; BatchQueue's may be locked under it
  std::condition_variable changed_;
  bool finding_, closing_ = false;
  bool usable_ = false, started_ = false;
  LaneCapacity capacity_;
  std::vector<LaneState> lanes_;     // set once, by find()
  std::list<EntryPointer> waiting_;  // for a lane
  std::int64_t waiting_pixels_ = 0;
  std::vector<std::string> notes_;
  // Items: that no lane decodes, that do not fit into a device, and of which not even a band does.
  std::set<std::size_t> refused_, too_large_, without_bands_;
  // Images of as many bytes or more do not fit into a device.
  std::int64_t too_large_bytes_ = std::numeric_limits<std::int64_t>::max();
  double host_stages_ns_ = 0, host_pixels_ = 0;  // of the images that the host did
  std::size_t opened_ = 0;
  double pixels_seen_ = 0;
  HostAssist assist_;
  std::size_t ready_before_ = 0;             // when lost() last looked
  std::chrono::nanoseconds lost_before_{0};  // when a lane last was started, became ready or broke
};

}  // namespace imgpipe
