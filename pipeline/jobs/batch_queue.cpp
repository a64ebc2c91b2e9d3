#include "pipeline/jobs/batch_queue.h"

#include <algorithm>
#include <utility>

#include "images/memory/block_pool.h"

namespace imgpipe {

BatchQueue::BatchQueue(std::size_t items, const BatchSettings& settings, bool is_complete)
    : items_(items),
      is_complete_(is_complete),
      jobs_(std::max(1, settings.jobs)),
      threads_(settings.threads),
      memory_bytes_(settings.memory_bytes),
      memory_is_limit_(settings.memory_is_limit) {}

void BatchQueue::add_item() {
  {
    const std::lock_guard lock(mutex_);
    ++items_;
  }
  work_ready_.notify_one();
}

void BatchQueue::complete() {
  {
    const std::lock_guard lock(mutex_);
    is_complete_ = true;
  }
  notify();
}

BatchQueue::WorkItem BatchQueue::next(std::optional<std::chrono::milliseconds> patience) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!to_encode_.empty()) {
      EntryPointer entry = take(to_encode_);
      const int threads = grant_threads(*entry);
      return {Action::encode, std::move(entry), threads};
    }
    if (!parked_.empty()) {
      if (may_admit(*parked_.front())) {
        EntryPointer entry = take(parked_);
        admit(*entry);
        const int threads = entry->to_lane ? 1 : grant_threads(*entry);
        work_ready_.notify_all();  // the next image may fit too, or another file may be read
        return {Action::process, std::move(entry), threads};
      }
    } else if (may_open()) {
      EntryPointer entry = std::make_unique<BatchEntry>();
      if (again_.empty()) {
        entry->result.item = next_item_++;
      } else {
        entry->result.item = again_.front();
        again_.pop_front();
      }
      ++in_flight_;
      return {Action::open, std::move(entry), 1};
    }
    if (idle()) return {};
    const bool held =
        held_;  // held_time_ grows even if all images have begun: more lanes would end the batch sooner
    const auto start = std::chrono::steady_clock::now();
    if (!patience) {
      work_ready_.wait(lock);
    } else if (work_ready_.wait_for(lock, *patience) == std::cv_status::timeout) {
      return {Action::wait, nullptr, 1};
    }
    if (held) held_time_ += std::chrono::steady_clock::now() - start;
  }
}

bool BatchQueue::may_read(EntryPointer& entry, std::int64_t bytes, std::int64_t outside) {
  {
    const std::lock_guard lock(mutex_);
    reading_bytes_ -= std::exchange(entry->counted.file_bytes, 0);
    const bool alone = reading_bytes_ == 0 && admitted_bytes_ == 0;
    // At most a quarter of the memory is for waiting files; the rest is for processing.
    const bool few = reading_bytes_ == 0 || reading_bytes_ + bytes <= memory_bytes_ / 4;
    if (alone || (few && taken_bytes() + bytes <= memory_bytes_)) {
      entry->counted = {bytes, 0, outside};
      reading_bytes_ += bytes;
      set_outside(outside_bytes_ + outside);
      return true;
    }
    again_.push_front(entry->result.item);
    --in_flight_;
    reading_full_ = true;
  }
  entry.reset();
  notify();
  return false;
}

void BatchQueue::park(EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) parked_.push_back(std::move(entry));
  }
  if (entry) {
    drop(std::move(entry));
  } else {
    notify();
  }
}

void BatchQueue::queue_for_encoding(EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    to_encode_.push_back(std::move(entry));
  }
  notify();
}

void BatchQueue::begin_again(EntryPointer&& entry) {
  {
    const std::lock_guard lock(mutex_);
    again_.push_back(entry->result.item);
  }
  drop(std::move(entry));
}

void BatchQueue::end(EntryPointer entry) noexcept {
  std::list<BatchResult> ended;
  ended.swap(entry->ended);
  ended.front() = std::move(entry->result);
  const BatchEntry::Counted counted = entry->counted;
  entry.reset();
  {
    const std::lock_guard lock(mutex_);
    release(counted);
    file_bytes_ += ended.front().held_bytes();
    peak_admitted_bytes_ = std::max(peak_admitted_bytes_, ended.front().needed_bytes);
    results_.splice(results_.end(), ended);
  }
  notify();
}

void BatchQueue::drop(EntryPointer entry) noexcept {
  const BatchEntry::Counted counted = entry->counted;
  entry.reset();
  {
    const std::lock_guard lock(mutex_);
    release(counted);
  }
  notify();
}

void BatchQueue::release_file(std::int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    file_bytes_ -= bytes;
  }
  work_ready_.notify_all();
}

void BatchQueue::hold(bool held) {
  {
    const std::lock_guard lock(mutex_);
    if (held_ == held) return;
    held_ = held;
  }
  work_ready_.notify_all();  // also when the hold begins, because waiting time counts from then on
}

std::chrono::nanoseconds BatchQueue::held_time() const {
  const std::lock_guard lock(mutex_);
  return held_time_;
}

void BatchQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const EntryPointer& entry : parked_) release(entry->counted);
    parked_.clear();
  }
  notify();
}

std::size_t BatchQueue::left() const {
  const std::lock_guard lock(mutex_);
  return left_locked();
}

std::optional<BatchResult> BatchQueue::next_result(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  result_ready_.wait_for(lock, patience, [this] { return !results_.empty() || idle(); });
  if (results_.empty()) return std::nullopt;
  BatchResult result = std::move(results_.front());
  results_.pop_front();
  return result;
}

bool BatchQueue::finished() const {
  const std::lock_guard lock(mutex_);
  return results_.empty() && idle();
}

std::int64_t BatchQueue::peak_admitted_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_admitted_bytes_;
}

// ---- under mutex_ -----------------------------------------------------------------------------------

// Whether no image is or will be in progress.
bool BatchQueue::idle() const {
  return in_flight_ == 0 && (stopping_ || (is_complete_ && next_item_ == items_ && again_.empty()));
}

std::int64_t BatchQueue::taken_bytes() const {
  return admitted_bytes_ + reading_bytes_ + file_bytes_;
}

// Outputs in memory wait for those of earlier images; at most a quarter of the memory is for them.
bool BatchQueue::may_open() const {
  if (file_bytes_ > memory_bytes_ / 4 && in_flight_ > 0) return false;
  return !stopping_ && !held_ && !reading_full_ && (next_item_ < items_ || !again_.empty());
}

std::size_t BatchQueue::left_locked() const {
  return items_ - next_item_ + again_.size() + in_flight_ + (is_complete_ ? 0 : next_item_);
}

// Whether a waiting image can be admitted. With a memory limit, an image that fits only alone is admitted
// once no other image is. Images parked after it then release their files and begin again later, and files
// still being read must be parked or dropped first.
bool BatchQueue::may_admit(const BatchEntry& entry) {
  const std::int64_t more = entry.need.bytes - entry.counted.file_bytes;
  if (taken_bytes() + more <= memory_bytes_) return true;
  if (admitted_bytes_ > 0) return false;
  if (!memory_is_limit_) return true;
  while (parked_.size() > 1) {
    again_.push_front(parked_.back()->result.item);
    const BatchEntry::Counted counted = parked_.back()->counted;
    parked_.pop_back();
    release(counted);
  }
  reading_full_ = true;
  return reading_bytes_ <= entry.counted.file_bytes;
}

// Gives an image more than one thread only while there are fewer images than threads.
int BatchQueue::threads_now() const {
  const auto jobs = static_cast<std::size_t>(jobs_);
  const auto at_once = is_complete_ ? std::clamp<std::size_t>(left_locked(), 1, jobs) : jobs;
  return std::max(1, threads_ / static_cast<int>(at_once));
}

void BatchQueue::admit(BatchEntry& entry) {
  reading_bytes_ -= entry.counted.file_bytes;
  reading_full_ = false;
  const std::int64_t outside = outside_bytes_ - entry.counted.outside_bytes + entry.outside_bytes;
  entry.counted = {0, entry.need.bytes, entry.outside_bytes};
  admitted_bytes_ += entry.need.bytes;
  peak_admitted_bytes_ = std::max(peak_admitted_bytes_, admitted_bytes_);
  set_outside(outside);
}

void BatchQueue::set_outside(std::int64_t bytes) {
  if (std::exchange(outside_bytes_, bytes) != bytes) block_pool().set_outside(bytes);
}

// Grants an admitted image as many threads as there is memory for.
int BatchQueue::grant_threads(BatchEntry& entry) {
  const std::int64_t free_bytes = std::max<std::int64_t>(0, memory_bytes_ - taken_bytes());
  int threads =
      entry.in_bands() ? threads_ : threads_now();  // a device processes one image in bands at a time
  if (memory_is_limit_) threads = entry.need.threads_within(threads, entry.need.bytes + free_bytes);
  const std::int64_t more = entry.need.with_threads(threads) - entry.need.bytes;
  entry.counted.admitted_bytes += more;
  admitted_bytes_ += more;
  peak_admitted_bytes_ = std::max(peak_admitted_bytes_, admitted_bytes_);
  return threads;
}

EntryPointer BatchQueue::take(std::deque<EntryPointer>& from) {
  EntryPointer entry = std::move(from.front());
  from.pop_front();
  return entry;
}

void BatchQueue::release(const BatchEntry::Counted& counted) {
  admitted_bytes_ -= counted.admitted_bytes;
  reading_bytes_ -= counted.file_bytes;
  reading_full_ = false;
  --in_flight_;
  set_outside(outside_bytes_ - counted.outside_bytes);
}

void BatchQueue::notify() {
  work_ready_.notify_all();
  result_ready_.notify_one();
}

}  // namespace imgpipe
