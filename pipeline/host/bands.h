// Rows in bands, over several threads: where a chain of stages, its source and its sink meet.
//
//   source            chain                                     sink
//   reader: a band    gray -> hist        in buffers of         frame: rows of an image
//   or an image       contrast -> smooth  the cache's size      writer: strips, or rows in order
//
// One band after the other is taken from the source; several are then on their way at once, each on one
// thread from its first stage to its strip of the file. Nothing but the sink is as large as the image.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "pipeline/engine.h"
#include "pipeline/host/host_threads.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// One stage in a chain. A fused step makes two of them.
struct ChainLink {
  const Stage* stage = nullptr;
  std::size_t step = 0;  // of the plan: whose label the time goes to, whose counts the histogram
  FrameType in, out;
};

struct ChainSource {
  Reader* reader = nullptr;              // not yet read from
  Frame<const std::byte, Host> image = {};  // without a reader
};

// What a chain leaves behind, all optional.
struct ChainSink {
  // The planes that the last link leaves, or with no link the reader's image. With an alpha plane only where
  // a link of the chain moves alpha; where none does it stays where it was before the chain.
  Frame<std::byte, Host> image = {};
  Writer* writer = nullptr;  // not yet written to; finish() is left to the caller
  ByteSink bytes = {};       // takes what the writer has finished, behind each band
};

// A chain is right when
//   - no link but the first reads a histogram, and those of the plan's steps before it are complete;
//   - behind a reader no link needs rows around its own (Stage::reach is 0).
struct ChainJob {
  const Plan& plan;
  Shape source_shape;
  ChainSource source;
  std::vector<ChainLink> links;
  ChainSink sink;
  std::vector<std::vector<std::uint64_t>>& histograms;  // by step; those of the links are overwritten
  Timeline& timeline;
  int pass = 0;
};

// Runs the chain over the whole image. Rethrows what reader, writer or memory throw; nothing more is then to
// be had from either.
void run_chain(const ChainJob& job, HostThreads& threads);

// Encodes an image, strip by strip where the writer has strips. Its time goes to the row "encode". With a
// sink the file goes there, in the row "write", and nothing is returned.
[[nodiscard]] EncodedFile encode_image(ConstHostPlane pixels, Writer& writer, HostThreads& threads,
                                       Timeline& timeline, const ByteSink& sink = {});
// The end of a file whose rows are all written; part of encode_image().
[[nodiscard]] EncodedFile finish_file(Writer& writer, Timeline& timeline, const ByteSink& sink);

// Whether a file is worth handing on as it is made. One that is smaller is held until it is whole: nothing
// is then begun for an image that fails.
[[nodiscard]] bool is_large_file(const Writer& writer);

}  // namespace imgpipe
