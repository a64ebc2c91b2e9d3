#include "pipeline/threads/host_threads.h"

#include <algorithm>

#include "pipeline/threads/thread_start.h"

namespace imgpipe {

HostThreads::~HostThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_ready_.notify_all();
  for (std::thread& other : others_) other.join();
}

void HostThreads::start() {
  others_ = start_threads(count_ - 1, [this](int other) { wait_for_work(other + 1); });
  count_ = static_cast<int>(others_.size()) + 1;
}

void HostThreads::run(int most, const std::function<void(int)>& work) {
  if (std::min(most, count_) > 1 && others_.empty()) start();
  const int others = std::min(most, count_) - 1;
  if (others > 0) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    ++runs_;
    wanted_ = others;
  }
  for (int i = 0; i < others; ++i) work_ready_.notify_one();
  work(0);
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  idle_.wait(lock, [this] { return busy_ == 0; });
}

void HostThreads::wait_for_work(int index) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t done = 0;;) {
    work_ready_.wait(lock, [&] { return ending_ || (work_ != nullptr && runs_ != done && wanted_ > 0); });
    if (ending_) return;
    done = runs_;
    ++busy_;
    --wanted_;
    const std::function<void(int)>& work = *work_;
    lock.unlock();
    work(index);
    lock.lock();
    if (--busy_ == 0) idle_.notify_one();
  }
}

}  // namespace imgpipe
