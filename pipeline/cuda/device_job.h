// An engine's image on its way through a device, by the route that there is memory for.
//
//   file     host                     stage the scan                          the file's chunks
//            stream                                  upload | decode | steps | encode | download
//
//   rows     host threads             decode -> chunk | decode -> chunk ...  queue steps      wait
//            stream                                     upload | upload ...   | steps | download
//            another thread   context (first image only)
//
// A file that the device finds damage in, or lacks the memory for, goes as rows; rows that there is too
// little memory for go in bands (pipeline/cuda/banded_run.h). Nothing synchronises between the first upload
// and the download.
#pragma once

#include <cstdint>

#include "pipeline/cuda/engine_context.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// Does a job, whose plan and timeline are in the outcome already. `host_bytes`: that the whole image takes of
// the host's memory. After an error nothing is queued any more, or the context is of no more use.
void run_on_device(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome,
                   std::int64_t host_bytes);

}  // namespace imgpipe
