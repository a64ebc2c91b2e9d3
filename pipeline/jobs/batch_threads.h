// How a batch shares out the threads that can be had.
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

// What a worker has for itself.
class Worker {
 public:
  // Numbers count from 1. `settings` stays where it is.
  Worker(std::size_t number, const BatchSettings& settings) : number_(number), settings_(settings) {}

  [[nodiscard]] std::string track() const { return "worker " + std::to_string(number_); }
  // Its engine with so many threads; made when it is first asked for.
  [[nodiscard]] Engine& engine(int threads);

 private:
  std::size_t number_;
  const BatchSettings& settings_;
  std::map<int, std::unique_ptr<Engine>> engines_;  // by threads
};

// As many workers as jobs, but no more than there are images.
[[nodiscard]] int workers_for(const BatchSettings& settings, std::size_t items);

// Starts work(0), work(1) ..., at most one worker for each image and those that the system gives: none where
// the caller's is the only thread.
[[nodiscard]] std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                                     const std::function<void(std::size_t)>& work);

// What goes on beside the work, on a thread of its own; where none is to be had it is done when this returns.
[[nodiscard]] std::vector<std::thread> start_or_run(const std::function<void()>& action);

}  // namespace imgpipe
