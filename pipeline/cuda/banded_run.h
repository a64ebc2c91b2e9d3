// Processes images that do not fit into the memory of the device or the host, in bands of rows
// (pipeline/devices/device_bands.h).
//
//   slot 1   upload | steps | download            upload | steps | download
//   slot 2          upload | steps | download            upload | ...
//   slot 3                  upload | steps | download
//
// Each slot has its own stream, device memory and page-locked rows on the host. Histograms are counted per
// band, summed on the host, and uploaded before the next chain.
#pragma once

#include <deque>

#include "images/image.h"
#include "pipeline/cuda/device_times.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// Runs a job in bands, with its own streams and memory on the context's device. `early`: the rows already
// read, from the top of the image. Throws Error(memory) if memory does not suffice for the smallest bands.
void run_in_bands(Context& context, Job& job, Outcome& outcome, HostThreads& threads,
                  std::deque<Image> early = {});

}  // namespace imgpipe
