// Parts of a whole that are begun and ended in order, and worked on at the same time in between: what reads
// and writes a file can only go through it once.
//
//   begin 0 | begin 1 | begin 2 | ...            one at a time
//        work 0 ----- | work 1 -- | work 2 ...   as many as there are threads
//                  end 0 | end 1 | end 2 ...     one at a time, in the order of begin
#pragma once

#include <cstddef>
#include <functional>

#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// What is done with each part. `slot`: of the memory that the part has on its way; `thread`: 0 (the caller's)
// up to HostThreads::count() - 1.
struct OrderedSteps {
  std::function<bool(std::size_t slot, int thread)> begin;  // false: there are no more parts
  std::function<void(std::size_t slot, int thread)> work;
  std::function<void(std::size_t slot, int thread)> end;
};

// At most `slots` parts, 1 or more, are on their way. Rethrows the first exception of a step; no part is
// begun or ended after it. With one thread or one slot all is done by the caller; of one thread each part
// ends as late as the slots allow, so that what its work has left to a device goes on meanwhile. Allocates
// before the first step only.
void run_in_order(HostThreads& threads, std::size_t slots, const OrderedSteps& steps);

}  // namespace imgpipe
