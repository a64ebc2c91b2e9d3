#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/threads/thread_start.h"

namespace imgpipe {

// Threads that wait for work, so that a run's time does not include starting them. The caller is thread 0.
class ThreadTeam {
 public:
  // Starts fewer threads if the system provides no more.
  explicit ThreadTeam(int count)
      : barrier_(count),
        others_(start_threads(count - 1, [this](int other) { wait_for_work(other + 1); })),
        count_(static_cast<int>(others_.size()) + 1) {
    for (int i = count_; i < count; ++i) barrier_.arrive_and_drop();
  }
  ~ThreadTeam() { dismiss(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] int count() const { return count_; }
  // Calls work(0) to work(count - 1), each on its own thread, and waits. Rethrows one of their exceptions.
  void run(const std::function<void(int)>& work) {
    work_ = &work;
    barrier_.arrive_and_wait();
    run_share_of_work(0);
    barrier_.arrive_and_wait();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void dismiss() {
    work_ = nullptr;
    barrier_.arrive_and_wait();
    for (std::thread& other : others_) other.join();
  }
  void run_share_of_work(int index) {
    try {
      (*work_)(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
  }
  void wait_for_work(int index) {
    for (;;) {
      barrier_.arrive_and_wait();
      if (work_ == nullptr) return;
      run_share_of_work(index);
      barrier_.arrive_and_wait();
    }
  }

  std::barrier<> barrier_;
  const std::function<void(int)>* work_ = nullptr;
  std::mutex mutex_;  // guards error_
  std::exception_ptr error_;
  std::vector<std::thread> others_;
  int count_;
};

}  // namespace imgpipe
