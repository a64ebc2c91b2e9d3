// What each worker of a batch does next: which images wait for what, and how much memory they have.
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

// Thread-safe. Where a function throws (std::bad_alloc) nothing has changed, and the entry stays the
// caller's.
class BatchQueue {
 public:
  BatchQueue(std::size_t items, const BatchSettings& settings);

  enum class Action { open, process, encode, wait, end };
  struct WorkItem {
    Action action = Action::end;
    EntryPointer entry;  // open: with its item's number and nothing else
    int threads = 1;     // process, encode: that the worker may use
  };
  // Waits for something to do. What is finished by a lane comes first, then what its memory is there for,
  // then what has not begun. `end`: there is nothing more. `wait`: there was nothing within `patience`.
  [[nodiscard]] WorkItem next(std::optional<std::chrono::milliseconds> patience = std::nullopt);

  // Before a file is read, and again where opening it takes more: so many bytes in all, `outside` of them not
  // the pool's. False where that would be too much beside what is read and waits already: the image is then
  // begun later, by whoever comes next.
  [[nodiscard]] bool may_read(EntryPointer& entry, std::int64_t bytes, std::int64_t outside = 0);
  // An image that was opened waits until its memory is free; it is dropped when the batch is stopping.
  void park(EntryPointer&& entry);
  // A lane has finished it.
  void give_to_encode(EntryPointer&& entry);
  // Its lane broke: it begins again.
  void begin_again(EntryPointer&& entry);
  // The end of an image; its memory is free before another is let in.
  void end(EntryPointer entry) noexcept;

  // While it is held, no image is begun: decoding faster than the lanes take would only fill memory.
  void hold(bool held);
  // How long workers had nothing to do meanwhile, added up, also where no image is left to begin.
  [[nodiscard]] std::chrono::nanoseconds held_time() const;
  // Begins no more images; what waits for memory is dropped.
  void stop();

  // Images that are not done yet.
  [[nodiscard]] std::size_t left() const;
  [[nodiscard]] std::optional<BatchResult> next_result(std::chrono::milliseconds patience);
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::int64_t peak_admitted_bytes() const;

 private:
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool may_open() const;
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

  const std::size_t items_;
  const int jobs_, threads_;
  const std::int64_t memory_bytes_;
  const bool memory_is_limit_;
  mutable std::mutex mutex_;
  std::condition_variable work_ready_, result_ready_;
  bool stopping_ = false, held_ = false;
  std::chrono::nanoseconds held_time_{0};
  bool reading_full_ = false;  // no more is begun until what was read is admitted, or gone
  std::size_t next_item_ = 0, in_flight_ = 0;
  std::deque<std::size_t> again_;       // items whose lane broke
  std::deque<EntryPointer> parked_;     // opened, waiting for memory
  std::deque<EntryPointer> to_encode_;  // back from a lane
  std::list<BatchResult> results_;
  std::int64_t reading_bytes_ = 0;  // of files that are read and not admitted
  std::int64_t admitted_bytes_ = 0, peak_admitted_bytes_ = 0;
  std::int64_t outside_bytes_ = 0;  // of those admitted, what is none of the pool's
};

}  // namespace imgpipe
