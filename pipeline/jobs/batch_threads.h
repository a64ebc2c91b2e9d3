// The threads of a batch, as far as the system provides them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/jobs/batch.h"

namespace imgpipe {

class Worker {
 public:
  // Numbers begin at 1. `settings` must outlive this.
  Worker(std::size_t number, const BatchSettings& settings) : number_(number), settings_(settings) {}

  [[nodiscard]] std::string track() const { return "worker " + std::to_string(number_); }
  // The worker's engine with `threads` threads, made at the first call.
  [[nodiscard]] Engine& engine(int threads);

 private:
  std::size_t number_;
  const BatchSettings& settings_;
  std::map<int, std::unique_ptr<Engine>> engines_;  // by threads
};

// Returns the number of jobs, at most one per image.
[[nodiscard]] int workers_for(const BatchSettings& settings, std::size_t items);

// Starts work(0), work(1) ... for workers_for() workers, or for as many as get a thread, possibly none.
[[nodiscard]] std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                                     const std::function<void(std::size_t)>& work);

// Runs `action` on a new thread; if none can be started, runs it before this returns.
[[nodiscard]] std::vector<std::thread> start_or_run(const std::function<void()>& action);

}  // namespace imgpipe
