#include "pipeline/host/ordered_run.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <limits>
#include <mutex>
#include <vector>

namespace imgpipe {
namespace {

class OrderedRun {
 public:
  OrderedRun(std::size_t slots, const OrderedSteps& steps)
      : steps_(steps), worked_(slots, kNone), users_(slots, kNoThread) {
    free_.reserve(slots);
    for (std::size_t slot = slots; slot-- > 0;) free_.push_back(slot);
  }

  // Runs on every thread. The thread that begins a part also works on it, while its rows are in the L1 cache.
  void take_part(int thread) {
    std::unique_lock lock(mutex_);
    while (!over()) {
      if (may_end()) {
        end_next(lock, thread);
      } else if (may_begin()) {
        begin_next(lock, thread);
      } else {
        changed_.wait(lock);
      }
    }
    changed_.notify_all();
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  static constexpr int kNoThread = -1;

  // ---- under mutex_; they leave the lock while a step runs ----------------------------------------------

  [[nodiscard]] bool over() const { return error_ || (no_more_ && ended_ == begun_); }
  [[nodiscard]] bool may_begin() const { return !no_more_ && !beginning_ && !free_.empty(); }
  [[nodiscard]] bool may_end() const { return !ending_ && worked_[ended_ % worked_.size()] != kNone; }

  // Takes the slot that the thread used last, whose memory is in the cache of its core; without one, the slot
  // freed last.
  std::size_t take_slot(int thread) {
    const auto used =
        std::find_if(free_.rbegin(), free_.rend(), [&](std::size_t slot) { return users_[slot] == thread; });
    const auto at = used == free_.rend() ? std::prev(free_.end()) : std::prev(used.base());
    const std::size_t slot = *at;
    free_.erase(at);
    users_[slot] = thread;
    return slot;
  }

  void begin_next(std::unique_lock<std::mutex>& lock, int thread) {
    const std::size_t slot = take_slot(thread);
    beginning_ = true;
    const bool more = step(lock, [&] { return steps_.begin(slot, thread); });
    beginning_ = false;
    if (!more) {
      no_more_ = true;
      return;
    }
    const std::size_t number = begun_++;
    if (!step(lock, [&] { return steps_.work(slot, thread), true; })) return;
    worked_[number % worked_.size()] = slot;  // free: at most worked_.size() parts are in progress
  }

  void end_next(std::unique_lock<std::mutex>& lock, int thread) {
    std::size_t& next = worked_[ended_ % worked_.size()];
    const std::size_t slot = next;
    next = kNone;
    ending_ = true;
    if (!step(lock, [&] { return steps_.end(slot, thread), true; })) return;
    ending_ = false;
    ++ended_;
    free_.push_back(slot);  // capacity is reserved
  }

  // A thread that unlocks wakes one other if there is more to do; that one does the same.
  template <class Step>
  bool step(std::unique_lock<std::mutex>& lock, const Step& one) {
    const bool more_to_do = may_end() || may_begin();
    lock.unlock();
    if (more_to_do) changed_.notify_one();
    bool went_on = false;
    std::exception_ptr error;
    try {
      went_on = one();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    return went_on;
  }

  const OrderedSteps& steps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool beginning_ = false, ending_ = false, no_more_ = false;
  std::size_t begun_ = 0, ended_ = 0;
  std::vector<std::size_t> free_;    // slots
  std::vector<std::size_t> worked_;  // by part number modulo size: slots of parts that are ready to end
  std::vector<int> users_;           // by slot: the thread that used it last
  std::exception_ptr error_;
};

// A part ends only when its slot is needed, so that asynchronous work can continue meanwhile.
void run_sequentially(std::size_t slots, const OrderedSteps& steps) {
  std::size_t begun = 0;
  std::size_t ended = 0;
  const auto end_next = [&] { steps.end(ended++ % slots, 0); };
  while (steps.begin(begun % slots, 0)) {
    steps.work(begun % slots, 0);
    ++begun;
    if (begun - ended == slots) end_next();
  }
  while (ended < begun) end_next();
}

}  // namespace

void run_in_order(HostThreads& threads, std::size_t slots, const OrderedSteps& steps) {
  if (threads.count() == 1 || slots == 1) {
    run_sequentially(slots, steps);
    return;
  }
  OrderedRun run(slots, steps);
  threads.run(static_cast<int>(slots), [&run](int thread) { run.take_part(thread); });
  run.rethrow();
}

}  // namespace imgpipe
