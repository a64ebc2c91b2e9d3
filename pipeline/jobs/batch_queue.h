// Assigns work to the workers of a batch: tracks which images wait for what, and how much memory they have.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/batch_entry.h"

namespace imgpipe {

// Thread-safe. A function that throws (std::bad_alloc) changes nothing, and the caller keeps the entry.
class BatchQueue {
 public:
  // `is_complete` false: items may be added until complete().
  BatchQueue(std::size_t items, const BatchSettings& settings, bool is_complete = true);

  void add_item();
  void complete();

  enum class Action { open, process, encode, wait, end };
  struct WorkItem {
    Action action = Action::end;
    EntryPointer entry;  // open: only has its item's number
    int threads = 1;     // process, encode: granted to the worker
  };
  // Waits for work. Images that a lane has finished come first, then opened images whose memory is available,
  // then images that have not begun. `end`: no work is left. `wait`: none came within `patience`.
  [[nodiscard]] WorkItem next(std::optional<std::chrono::milliseconds> patience = std::nullopt);

  // Must be called before a file is read, and again if opening it needs more: `bytes` in total, of which
  // `outside` do not come from the pool. False: waiting files leave too little memory, and a worker begins
  // the image later.
  [[nodiscard]] bool may_read(EntryPointer& entry, std::int64_t bytes, std::int64_t outside = 0);
  // Lets an opened image wait until its memory is available; drops it if the batch is stopping.
  void park(EntryPointer&& entry);
  // Takes an image that a lane has finished.
  void queue_for_encoding(EntryPointer&& entry);
  // Takes an image whose lane broke: it begins again.
  void begin_again(EntryPointer&& entry);
  // Ends an image; its memory is released before another is admitted, except for an output in memory.
  void end(EntryPointer entry) noexcept;

  void release_file(std::int64_t bytes);

  // While held, no image begins: decoding faster than the lanes process would only fill memory.
  void hold(bool held);
  // The total time that workers idled while held, even with no image left to begin.
  [[nodiscard]] std::chrono::nanoseconds held_time() const;
  // Begins no more images and drops those that wait for memory.
  void stop();

  // Images that have not ended. A list that grows is expected to grow as much again.
  [[nodiscard]] std::size_t left() const;
  [[nodiscard]] std::optional<BatchResult> next_result(std::chrono::milliseconds patience);
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::int64_t peak_admitted_bytes() const;

 private:
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool may_open() const;
  [[nodiscard]] std::int64_t taken_bytes() const;
  [[nodiscard]] std::size_t left_locked() const;
  [[nodiscard]] bool may_admit(const BatchEntry& entry);
  [[nodiscard]] int threads_now() const;
  [[nodiscard]] int grant_threads(BatchEntry& entry);
  void admit(BatchEntry& entry);
  void set_outside(std::int64_t bytes);
  [[nodiscard]] EntryPointer take(std::deque<EntryPointer>& from);
  void drop(EntryPointer entry) noexcept;
  void release(const BatchEntry::Counted& counted);
  void notify();

  std::size_t items_;
  bool is_complete_;
  const int jobs_, threads_;
  const std::int64_t memory_bytes_;
  const bool memory_is_limit_;
  mutable std::mutex mutex_;
  std::condition_variable work_ready_, result_ready_;
  bool stopping_ = false, held_ = false;
  std::chrono::nanoseconds held_time_{0};
  bool reading_full_ = false;  // no image begins until a read file is admitted or dropped
  std::size_t next_item_ = 0, in_flight_ = 0;
  std::deque<std::size_t> again_;       // items that begin again
  std::deque<EntryPointer> parked_;     // opened, waiting for memory
  std::deque<EntryPointer> to_encode_;  // back from a lane
  std::list<BatchResult> results_;
  std::int64_t reading_bytes_ = 0;  // of files that are read but not admitted
  std::int64_t admitted_bytes_ = 0, peak_admitted_bytes_ = 0;
  std::int64_t file_bytes_ = 0;     // of outputs in memory
  std::int64_t outside_bytes_ = 0;  // of the admitted bytes, those not from the pool
};

}  // namespace imgpipe
