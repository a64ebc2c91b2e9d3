// Runs an image through the chains of its plan, band by band (pipeline/chains.h), on the threads of the host
// or on a device.
#pragma once

#include <memory_resource>

#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

class BandDevice;

// Runs a job; its plan and timeline are already in the outcome. With a device, kept images (source, outputs,
// pixels) are in host memory, and every pass of `repeat` uses the device again. `memory`: of rows and
// planes that the outcome does not return, for jobs of which only pixels are kept, with a source or target in
// memory; others use `new`. Rethrows exceptions of reader, writer, memory and device.
void run_chains(Job& job, Outcome& outcome, HostThreads& threads, BandDevice* device = nullptr,
                std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

// The host memory that run_chains() takes.
[[nodiscard]] MemoryNeed chains_need(const MemoryEstimateRequest& question, bool on_device = false);

}  // namespace imgpipe
