// The lanes of a batch: finds them, says which images go to them, and when more are started.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "images/error.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/batch_entry.h"
#include "pipeline/jobs/batch_queue.h"
#include "pipeline/jobs/lane_crew.h"

namespace imgpipe {

// Thread-safe.
class BatchLanes {
 public:
  // From any thread, with no lock held.
  struct Events {
    std::function<void(EntryPointer, const Error&)> failed;  // the image's own fault
    std::function<void(const Error&)> over;                  // the batch cannot go on without a lane
  };

  // `settings` and `queue` stay where they are.
  BatchLanes(const BatchSettings& settings, BatchQueue& queue, int workers, Events events);

  // Looks for the lanes, which may take long; once.
  void find();
  // What was decoded meanwhile goes on. Part of find(), and for where it is never called.
  void end_finding();
  // Waits for what the lanes are at, when no worker is left.
  void end();

  // Sets whether an image goes to a lane, and in what form, or through a lane's device in bands; starts the
  // lanes when that begins to pay. Throws Error(usage) where it has to and they cannot do its plan.
  void take(BatchEntry& entry);
  // A decoded image goes to the lanes, when they are found, or begins again where none is left.
  void hand_over(EntryPointer&& entry);
  // A worker found that no lane can decode an image: it begins again.
  void refuse(EntryPointer&& entry);
  // Runs an image in bands through a device that does nothing else meanwhile. False: the entry has gone, and
  // begins again: the device broke, or lacks the memory for a band and the host takes the image.
  [[nodiscard]] bool run_in_bands(EntryPointer& entry, int threads);
  // The host did an image.
  void done_by_host(const BatchResult& result);
  // A worker did an image in place of lanes that were full.
  void did_their_work(std::int64_t nanoseconds);

  [[nodiscard]] std::vector<std::string> take_notes();
  [[nodiscard]] std::vector<std::string> devices() const;
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] LaneEvents lane_events();
  [[nodiscard]] bool is_taken(BatchEntry& entry);
  [[nodiscard]] ImageRoute route_of(const BatchEntry& entry, bool taken) const;
  void begin_again(std::set<std::size_t>& marked, EntryPointer&& entry);
  template <class Action>
  void or_fail(EntryPointer entry, const Action& action);
  void give_to_crew(EntryPointer entry);
  void balance();
  void lane_broke(const std::string& lane, const Error& error, bool last);

  const BatchSettings& settings_;
  BatchQueue& queue_;
  const int workers_;
  const Events events_;
  mutable std::mutex mutex_;  // of all that follows; not held while the crew may speak
  std::vector<std::string> notes_;
  bool finding_, usable_ = false, started_ = false;
  std::vector<EntryPointer> early_;  // decoded before the lanes were found
  // Items: that no lane decodes, that do not fit into a device, and of which not even a band does.
  std::set<std::size_t> refused_, too_large_, without_bands_;
  // Images of as many bytes or more do not fit into a device.
  std::int64_t too_large_bytes_ = std::numeric_limits<std::int64_t>::max();
  double host_stages_ns_ = 0, host_pixels_ = 0;  // of the images that the host did
  LaneOffer offer_;
  std::size_t opened_ = 0;
  double pixels_seen_ = 0;
  std::atomic<std::int64_t> their_work_ns_{0};
  const std::shared_ptr<LaneHelp> help_;
  std::unique_ptr<LaneCrew> crew_;  // made once, by find()
};

}  // namespace imgpipe
