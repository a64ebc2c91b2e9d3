// Processes an engine's image on a device, by the first route that memory suffices for.
//
//   file     host                     stage the scan                          the file's chunks
//            stream                                  upload | decode | steps | encode | download
//
//   rows     host threads             decode -> chunk | decode -> chunk ...  queue steps      wait
//            stream                                     upload | upload ...   | steps | download
//            another thread   context (first image only)
//
// If the device finds damage in the file, or lacks memory for it, the image takes the route `rows`; if memory
// does not suffice for that either, it is processed in bands (pipeline/cuda/banded_run.h). Nothing
// synchronises between the first upload and the download.
#pragma once

#include <cstdint>

#include "pipeline/cuda/engine_context.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// Runs a job; its plan and timeline are already in the outcome. `host_bytes`: host memory that the whole
// image takes. After an error no queued work is left, or the context is unusable.
void run_on_device(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome,
                   std::int64_t host_bytes);

}  // namespace imgpipe
