// The threads of a batch, as far as the system gives them.
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

// A worker's own data.
class Worker {
 public:
  // Numbers count from 1. `settings` stays where it is.
  Worker(std::size_t number, const BatchSettings& settings) : number_(number), settings_(settings) {}

  [[nodiscard]] std::string track() const { return "worker " + std::to_string(number_); }
  // Its engine with `threads` threads, made at the first call.
  [[nodiscard]] Engine& engine(int threads);

 private:
  std::size_t number_;
  const BatchSettings& settings_;
  std::map<int, std::unique_ptr<Engine>> engines_;  // by threads
};

// As many workers as jobs, at most one per image.
[[nodiscard]] int workers_for(const BatchSettings& settings, std::size_t items);

// Starts work(0), work(1) ... for workers_for() workers, or as many as the system gives threads: none where
// the caller's is the only one.
[[nodiscard]] std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                                     const std::function<void(std::size_t)>& work);

// Runs `action` on a thread of its own; where there is none, before this returns.
[[nodiscard]] std::vector<std::thread> start_or_run(const std::function<void()>& action);

}  // namespace imgpipe
