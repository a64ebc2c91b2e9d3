// Keeps threads and engines between the calls of a process.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "pipeline/jobs/array_batch.h"

namespace imgpipe::python {

struct ThreadsKey {
  std::string device;
  int threads = 1;
  std::int64_t device_memory_bytes = 0;  // as for BatchThreads

  friend bool operator==(const ThreadsKey&, const ThreadsKey&) = default;
};

struct IdleThreads {
  ThreadsKey key;
  std::unique_ptr<BatchThreads> threads;
};

// Holds threads exclusively for one call, and keeps them for a later one however the call ends. Used without
// the GIL: its destructor may join threads.
class ThreadsLease {
 public:
  // Takes idle threads or makes new ones, within the limit of device memory. Throws like BatchThreads().
  ThreadsLease(const std::string& device, int threads);
  ~ThreadsLease();
  ThreadsLease(const ThreadsLease&) = delete;
  ThreadsLease& operator=(const ThreadsLease&) = delete;

  BatchThreads& operator*() const { return *held_.front().threads; }
  BatchThreads* operator->() const { return held_.front().threads.get(); }

 private:
  std::list<IdleThreads> held_;
};

// Ends all threads that no call uses, and frees their memory.
void end_idle_threads();

// Lets forked processes start new threads. Called once, when the module is imported.
void prepare_for_forks();

}  // namespace imgpipe::python
