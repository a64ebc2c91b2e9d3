// One image's way through the chains of its plan, band by band (pipeline/chains.h): on the threads of
// the host, or with a device that runs the nodes.
#pragma once

#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

class BandDevice;

// Does the job, whose plan and timeline are in the outcome already. With a device what is kept (the source,
// outputs, pixels) is kept in host memory, and every pass of `repeat` goes through the device anew. Rethrows
// what reader, writer, memory or device throw.
void run_chains(Job& job, Outcome& outcome, HostThreads& threads, BandDevice* device = nullptr);

// What that takes of the host's memory.
[[nodiscard]] MemoryNeed chains_need(const MemoryQuestion& question, bool on_device = false);

}  // namespace imgpipe
