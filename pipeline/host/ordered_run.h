// Runs parts that begin and end in order and are worked on concurrently in between, because files are read
// and written sequentially.
//
//   begin 0 | begin 1 | begin 2 | ...            one at a time
//        work 0 ----- | work 1 -- | work 2 ...   one per thread
//                  end 0 | end 1 | end 2 ...     one at a time, in the order of begin
#pragma once

#include <cstddef>
#include <functional>

#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// The steps of each part. `slot`: its memory; `thread`: 0 (the caller's) to HostThreads::count() - 1.
struct OrderedSteps {
  std::function<bool(std::size_t slot, int thread)> begin;  // false: there are no more parts
  std::function<void(std::size_t slot, int thread)> work;
  std::function<void(std::size_t slot, int thread)> end;
};

// At most `slots` parts, at least 1, are in progress. Rethrows the first exception of a step; no part begins
// or ends after it. With one thread or slot the caller does everything. With one thread each part ends as
// late as the slots allow, so that a device's work continues meanwhile. Allocates only before the first step.
void run_in_order(HostThreads& threads, std::size_t slots, const OrderedSteps& steps);

}  // namespace imgpipe
