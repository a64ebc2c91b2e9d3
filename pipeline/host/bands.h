// Runs a chain of nodes over an image, band by band, on several threads.
//
//   reader: rows in order      nodes on a band's rows        whole images
//   or whole images            in buffers of the cache's     or the writer: strips, or rows
//                              size                          in order
//
// Bands are read in order. Several are then in progress, each on one thread from its first node to its strip
// of the file. With a reader that has bands (Reader::has_bands()), that thread reads too; only begin_band()
// is called in order.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "pipeline/chains.h"
#include "pipeline/engine.h"
#include "pipeline/host/whole_buffers.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class BandDevice;

struct ChainJob {
  const ChainedPlan& plan;
  const Chain& chain;
  Reader* reader;  // set if the chain decodes and its image is not in `whole`; no rows read yet
  Writer* writer;  // set for the last chain of a streamed plan; no rows written yet; caller calls finish()
  const ByteSink& sink;  // takes the writer's finished parts after each band; may be empty
  // The values that the chain shares with earlier and later ones. The chain overwrites its counts.
  WholeBuffers& whole;
  Timeline& timeline;
  CountsFor counts_for = CountsFor::caller;  // as in Job
  int pass = 0;
  BandDevice* device = nullptr;  // if set, runs the nodes instead of the threads
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  // of the bands' rows
};

// Rethrows exceptions of reader, writer, memory and device; reader and writer are then unusable.
void run_chain(const ChainJob& job, HostThreads& threads);

}  // namespace imgpipe
