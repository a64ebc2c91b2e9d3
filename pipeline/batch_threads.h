// How many threads a batch has, where the system may give fewer than were asked for.
#pragma once

#include <cstddef>

#include "images/error.h"
#include "pipeline/batch.h"

namespace imgpipe {

// As many as `jobs`, but no more than there are images.
[[nodiscard]] int workers_for(const BatchSettings& settings, std::size_t items);

// The settings with as many jobs as the system gives threads for; where that is fewer than were asked for
// each image has its worker's thread only. Throws no_threads().
[[nodiscard]] BatchSettings within_threads(BatchSettings settings, std::size_t items);

// Error(memory): not one thread can be started.
[[nodiscard]] Error no_threads();

}  // namespace imgpipe
