// How a batch shares out the threads that can be had.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "pipeline/jobs/batch.h"

namespace imgpipe {

// As many workers as jobs, but no more than there are images.
[[nodiscard]] int workers_for(const BatchSettings& settings, std::size_t items);

// Starts work(0), work(1) ..., at most one worker for each image and those that the system gives: none where
// the caller's is the only thread.
[[nodiscard]] std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                                     const std::function<void(std::size_t)>& work);

// What goes on beside the work, on a thread of its own; where none is to be had it is done when this returns.
[[nodiscard]] std::vector<std::thread> start_or_run(const std::function<void()>& action);

}  // namespace imgpipe
