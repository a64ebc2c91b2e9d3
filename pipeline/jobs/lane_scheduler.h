// Decides which images go to a batch's lanes and when lanes start, and runs the threads that drive them.
//
//   push() --> waiting_ --> launcher of a lane with a free slot --> slot: a group of images
//                                                                     |
//            BatchQueue: encode, or begin again <-- collector <-------+
//
// One lock, mutex_, guards everything; docs/hacking.md, "Locks and threads", has the diagram.
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

// Thread-safe. A pushed image returns to the queue or is reported as failed, unless end() drops it.
class LaneScheduler {
 public:
  // Called from any thread, without the lock.
  struct Events {
    std::function<void(EntryPointer, const Error&)> failed;  // an error of the image itself
    std::function<void(const Error&)> over;                  // the batch cannot continue without a lane
  };

  // `settings` and `queue` must outlive this.
  LaneScheduler(const BatchSettings& settings, BatchQueue& queue, int workers, Events events);
  ~LaneScheduler() { end(); }
  LaneScheduler(const LaneScheduler&) = delete;
  LaneScheduler& operator=(const LaneScheduler&) = delete;

  // Finds the lanes, which may take long. Called once; images may be pushed earlier.
  void find();
  // Declares that no more lanes will be found. Called by find(), or instead of it.
  void end_finding();
  // Drops waiting images, waits for launched ones, which still reach the queue, and ends the threads.
  void end();

  // Decides whether an image goes to a lane, and in what form, or through its device in bands; starts lanes
  // when that pays off. Throws Error(usage) if an image must go to lanes that do not support its plan.
  void choose_route(BatchEntry& entry);
  // Lets a decoded or staged image wait for a lane, or begin again if none is left.
  void push(EntryPointer&& entry);
  // Takes an image that turned out not to be decodable by lanes: it begins again.
  void refuse(EntryPointer&& entry);
  // Waits until a device is idle and runs an image in bands through it, alone. False: the entry begins again,
  // because the device broke, or cannot hold a band and the host takes the image.
  [[nodiscard]] bool run_in_bands(EntryPointer& entry, int threads);
  void record_host_image(const BatchResult& result);
  // Records the time of a worker that processed an image in place of full lanes.
  void assisted(std::int64_t nanoseconds);

  // Reports how long each worker has waited in total because the lanes were full. Another lane starts when
  // this has grown by LaneCapacity::lane_patience since a lane was last started, became ready or broke. If
  // lanes are not the bottleneck, another one only costs its start and a second registration of all pinned
  // memory (two H200, 32 processors, 2026-11-21: 0.15 s, and 2.3 ms instead of 1.0 for an image of 8 MP).
  void lost(std::chrono::nanoseconds each);

  // Returns the pending lines for the user and removes them, so that each is reported once.
  [[nodiscard]] std::vector<std::string> take_notes();
  // The lanes that became ready, such as "cuda:0 (NVIDIA H200)".
  [[nodiscard]] std::vector<std::string> devices() const;
  [[nodiscard]] std::string note() const;
  [[nodiscard]] std::size_t started() const;  // lanes

 private:
  struct Group {
    std::size_t slot;
    std::list<EntryPointer> images;
    std::vector<LaneImage*> launched;  // those of `images`, as passed to Lane::launch()
  };
  struct LaneState {
    std::unique_ptr<Lane> lane;
    std::vector<std::size_t> free;  // slots
    std::vector<Group> running;     // with capacity for every slot
    bool started = false, ready = false, broken = false, launching = true;
    bool in_use = false;  // by run_in_bands()
    std::thread launcher, collector;
  };
  // A lane that broke, and what to do about it after the lock is released.
  struct Broken {
    std::string lane;
    Error error;
    bool last;
    std::list<EntryPointer> left;  // images that waited, if it was the last lane
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
  // Without mutex_:
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
  void requeue_individually(std::list<EntryPointer>& images);
  void end_images(LaneState& state, std::list<EntryPointer> images, const std::optional<Error>& error,
                  bool had_all_memory = false);
  void end_image(LaneState& state, EntryPointer image, const std::optional<Error>& own, bool had_all_memory);
  void collect_all(LaneState& state);
  void break_lane(LaneState& state, const Error& error);
  void return_image(EntryPointer image);
  [[nodiscard]] bool use_exclusively(const std::function<std::optional<Error>(Lane&)>& use);

  const BatchSettings& settings_;
  BatchQueue& queue_;
  const int workers_;
  const Events events_;
  std::atomic<std::int64_t> assisted_ns_{0};

  mutable std::mutex mutex_;  // guards all members below; BatchQueue's may be locked while holding it
  std::condition_variable changed_;
  bool finding_, closing_ = false;
  bool usable_ = false, started_ = false;
  LaneCapacity capacity_;
  std::vector<LaneState> lanes_;     // set once, by find()
  std::list<EntryPointer> waiting_;  // for a lane
  std::int64_t waiting_pixels_ = 0;
  std::vector<std::string> notes_;
  // Items that no lane can decode, items that do not fit into a device, and items that do not even fit in
  // bands.
  std::set<std::size_t> refused_, too_large_, without_bands_;
  // Images of at least this many bytes do not fit into a device.
  std::int64_t too_large_bytes_ = std::numeric_limits<std::int64_t>::max();
  double host_stages_ns_ = 0, host_pixels_ = 0;  // images processed by the host
  std::size_t opened_ = 0;
  double pixels_seen_ = 0;
  HostAssist assist_;
  std::size_t ready_before_ = 0;             // at the last call of lost()
  std::chrono::nanoseconds lost_before_{0};  // value when a lane was last started, became ready or broke
};

}  // namespace imgpipe
