// Images that do not fit into a device's memory, or its host's: in bands of rows through a part of it
// (pipeline/devices/device_bands.h).
//
//   slot 1   upload | steps | download            upload | steps | download
//   slot 2          upload | steps | download            upload | ...
//   slot 3                  upload | steps | download
//
// Each slot has a stream and memory of its own, page-locked rows on the host among it. What a chain of steps
// needs of a histogram is counted band by band, added up on the host and brought up before the next chain.
#pragma once

#include <deque>

#include "images/image.h"
#include "pipeline/cuda/device_times.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// Runs a job in bands, with separate streams and memory on the context's device. `early`: rows from the top
// that were read before. Throws Error(memory) if not even the lowest bands fit.
void run_in_bands(Context& context, Job& job, Outcome& outcome, HostThreads& threads,
                  std::deque<Image> early = {});

}  // namespace imgpipe
