// The threads that one image's bands are shared out to. They are started at once, and as many as the system
// gives: nothing is started later, when nobody could be told that there is no thread to be had.
//
// Not oneTBB (2021.8 to 2022.0): it starts its threads when work comes, some of them from each other, and
// where pthread_create fails, or a new thread finds no memory, it throws inside a function that is noexcept,
// which ends the process ("FIXME - consider more graceful recovery", in its monitor of threads). No setting
// of it prevents that, and a trial beforehand promises nothing where other processes have the same limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace imgpipe {

inline constexpr int kMostThreads = 1024;

// The caller's thread, and others that wait for work. One thread at a time uses it.
class HostThreads {
 public:
  // 1..kMostThreads; more than there are processors is allowed. Fewer where the system gives no more.
  explicit HostThreads(int count);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // The caller's among them, so at least 1.
  [[nodiscard]] int count() const noexcept { return static_cast<int>(others_.size()) + 1; }

  // Calls work(0) on the calling thread and meanwhile work(1), work(2) ... on up to `most` - 1 others: those
  // that are awake before work(0) returns. All have returned when this does. `work` must not throw.
  void run(int most, const std::function<void(int)>& work);

 private:
  void stand_by(int index);

  std::mutex mutex_;
  std::condition_variable work_ready_, idle_;
  bool ending_ = false;
  const std::function<void(int)>* work_ = nullptr;
  std::uint64_t runs_ = 0;  // so that nobody begins the same work twice
  int wanted_ = 0, busy_ = 0;
  std::vector<std::thread> others_;
};

}  // namespace imgpipe
