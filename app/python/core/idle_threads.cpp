#include "app/python/core/idle_threads.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

#include <pthread.h>

#include "app/python/core/devices.h"
#include "images/files/temporary_file.h"
#include "images/memory/block_pool.h"
#include "pipeline/threads/fork_mutex.h"

namespace imgpipe::python {
namespace {

// Never destroyed: at process exit the threads can no longer be joined.
class IdleSets {
 public:
  using Sets = std::list<IdleThreads>;

  [[nodiscard]] Sets take(const ThreadsKey& key) {
    Sets taken;
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, key, &IdleThreads::key);
    if (found != idle_.end()) taken.splice(taken.end(), idle_, found);
    return taken;
  }

  // Returns the surplus sets, those used least recently.
  [[nodiscard]] Sets keep(Sets added) noexcept {
    Sets surplus;
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), added);
    int of_several = 0, single = 0;
    for (auto next = idle_.begin(); next != idle_.end();) {
      const auto set = next++;
      const bool is_single = set->key.threads == 1;
      if (is_single ? ++single > kMostSingle : ++of_several > kMostOfSeveral)
        surplus.splice(surplus.end(), idle_, set);
    }
    return surplus;
  }

  [[nodiscard]] Sets take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(idle_, {});
  }

  // The handlers of fork, called by the forking thread. A forked process has none of its parent's threads, so
  // their sets can neither be used nor destroyed.
  void before_fork() {
    mutex_.lock();
    fork_mutex().lock();
    block_pool().before_fork();  // that of `new`
  }
  void in_parent() {
    block_pool().after_fork();
    fork_mutex().unlock();
    mutex_.unlock();
  }
  void in_child() {
    block_pool().after_fork();
    fork_mutex().unlock();
    unblock_new_outputs();
    for (IdleThreads& set : idle_) (void)set.threads.release();
    idle_.clear();
    mutex_.unlock();
  }

 private:
  // Callers with a thread per image, such as Pipeline.map(), use one set per thread; these have no
  // other thread.
  static constexpr int kMostOfSeveral = 4, kMostSingle = 64;

  std::mutex mutex_;
  Sets idle_;  // most recently used first
};

IdleSets& idle_sets() {
  static auto* const sets = new IdleSets;
  return *sets;
}

}  // namespace

ThreadsLease::ThreadsLease(const std::string& device, int threads) {
  const ThreadsKey key{device, threads, device_image_limit()};
  held_ = idle_sets().take(key);
  if (held_.empty())
    held_.push_back({key, std::make_unique<BatchThreads>(device, threads, key.device_memory_bytes)});
}

// NOLINTNEXTLINE(bugprone-exception-escape): letting the lock go does not throw
ThreadsLease::~ThreadsLease() {
  (void)idle_sets().keep(std::move(held_));  // destroys the surplus
}

void end_idle_threads() {
  (void)idle_sets().take_all();
}

void prepare_for_forks() {
  (void)idle_sets();  // created by a single thread
  const int failed = ::pthread_atfork([] { idle_sets().before_fork(); }, [] { idle_sets().in_parent(); },
                                      [] { idle_sets().in_child(); });
  if (failed != 0) throw std::bad_alloc();
}

}  // namespace imgpipe::python
