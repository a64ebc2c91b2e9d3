// A chain of nodes over an image, band by band, on several threads: where reader, nodes and writer meet.
//
//   reader: rows in order      nodes on a band's rows        whole images
//   or whole images            in buffers of the cache's     or the writer: strips, or rows
//                              size                          in order
//
// One band after the other is taken from the reader; several are then on their way at once, each on one
// thread from its first node to its strip of the file. A reader that gives bands to several threads is read
// on that thread too: in their order they are only begun.
#pragma once

#include <cstddef>

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
  Reader* reader;  // of the chain that decodes, unless its image is in `whole`; not yet read from
  Writer* writer;  // of the last chain of a streamed plan; not yet written to; finish() is left to the caller
  const ByteSink& sink;  // takes what the writer has finished, after each band; may be empty
  // Holds what the chain reads of earlier ones, and what later ones read of it; its counts are overwritten.
  WholeBuffers& whole;
  Timeline& timeline;
  int pass = 0;
  BandDevice* device = nullptr;  // runs the nodes in place of the threads, if there is one
};

// Runs the chain over the whole image. Rethrows what reader, writer or memory throw; nothing more is then to
// be had from either.
void run_chain(const ChainJob& job, HostThreads& threads);

}  // namespace imgpipe
