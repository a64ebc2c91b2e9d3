// Uploads rows to a device while the host decodes them.
//
//   no context yet   decode -> ordinary memory | decode -> ...
//   after that       staged rows -> chunk | decode -> chunk | decode -> chunk | ...
//   stream                            upload       upload           upload
//
// Chunks are a ring of page-locked memory, or parts of a page-locked image that is needed later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "images/image.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/engine_context.h"
#include "pipeline/host/chunk_reading.h"

namespace imgpipe {

// Decodes chunks of rows, from the top, to ordinary memory until the context is ready.
[[nodiscard]] std::deque<Image> decode_early(Reader& reader, HostThreads& threads, Timeline& timeline,
                                             const EngineContext& context);

class RowUpload {
 public:
  // `whole`: keeps the image in page-locked memory. `pass`: the pass of the uploads' spans.
  RowUpload(DeviceRun& run, Timeline& timeline, bool whole, int pass);

  // Uploads the rows that were decoded early, then the reader's. Makes the device current on every thread
  // that uploads.
  void bring_up(Reader& reader, std::deque<Image> early, HostThreads& threads, int device);
  [[nodiscard]] Image& whole() { return whole_; }

 private:
  static constexpr std::size_t kNotUsed = static_cast<std::size_t>(-1);
  struct Chunk {
    Image image;
    std::size_t last_mark = kNotUsed;  // at the end of its last upload
  };

  // Returns memory for `rows` rows from `first`, at most chunk_rows(). At most kRingChunks may be unsent.
  [[nodiscard]] HostView next_chunk(std::int64_t first, std::int64_t rows);
  // Uploads the oldest unsent chunk of next_chunk().
  void send(const HostView& chunk, std::int64_t first);

  DeviceRun& run_;
  Timeline& timeline_;
  int pass_;
  Image whole_;
  std::vector<Chunk> ring_;
  std::size_t next_ = 0, next_sent_ = 0;
};

}  // namespace imgpipe
