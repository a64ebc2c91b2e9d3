// The threads that share one image's bands. The first work for more than one thread starts them, as many as
// the system provides: an image of one band needs none.
//
// oneTBB (2021.8 to 2022.0) is not used. If pthread_create fails, or a new thread finds no memory, it throws
// inside a noexcept function, which terminates the process ("FIXME - consider more graceful recovery", in its
// thread monitor). No setting prevents that, and a trial beforehand guarantees nothing if other processes
// share the limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace imgpipe {

inline constexpr int kMaxThreads = 1024;

// The caller's thread, and others that wait for work. Used by one thread at a time.
class HostThreads {
 public:
  // 1..kMaxThreads; may exceed the number of processors.
  explicit HostThreads(int count) noexcept : count_(count) {}
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // Includes the caller's thread, so at least 1. The requested number, until the first work for several
  // threads found that the system provides fewer.
  [[nodiscard]] int count() const noexcept { return count_; }

  // Calls work(0) on the calling thread and concurrently work(1), work(2) ... on up to `most` - 1 others:
  // those awake before work(0) returns. Returns once all have returned. `work` must not throw.
  void run(int most, const std::function<void(int)>& work);

 private:
  void start();
  void wait_for_work(int index);

  int count_;
  std::mutex mutex_;
  std::condition_variable work_ready_, idle_;
  bool ending_ = false;
  const std::function<void(int)>* work_ = nullptr;
  std::uint64_t runs_ = 0;  // so that no thread begins the same work twice
  int wanted_ = 0, busy_ = 0;
  std::vector<std::thread> others_;
};

}  // namespace imgpipe
