// Reads an image into chunks that a consumer, such as a device upload, takes as they are filled. Several
// threads read bands concurrently if the reader supports it; otherwise one thread reads row by row.
//
//   next    chunk 0                    chunk 1 ...        one at a time, in order
//   read      band | band | ...          band | ...        one per thread
//   filled                chunk 0            chunk 1 ...  one at a time, in order, never during next
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "images/codecs/codec.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/timeline.h"

namespace imgpipe {

inline constexpr std::size_t kChunkBytes = std::size_t{8} << 20;  // a few hundred microseconds of upload
inline constexpr std::size_t kRingChunks = 3;

// The rows of a chunk, and of a band of it that one thread reads at a time.
[[nodiscard]] inline std::int64_t chunk_rows(const Shape& shape) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kChunkBytes) / shape.row_bytes(), 1,
                                  shape.height);
}
[[nodiscard]] std::int64_t chunk_band_rows(const Shape& shape);

struct ChunkSteps {
  // Returns memory for `rows` rows from `first` on (chunk_rows() or the rest), or an empty view to stop
  // reading. At most kRingChunks chunks, including the requested one, are unfilled at any time.
  std::function<HostView(std::int64_t first, std::int64_t rows)> next;
  // Called once all rows of a chunk are read.
  std::function<void(const HostView& chunk, std::int64_t first)> filled;
};

// Reads from row `first` on. Returns the next row to read: the height, or the one for which `next` returned
// no memory; reading may continue from there. The time is recorded as decode_row(). Steps are called from any
// of the threads. Rethrows exceptions of a step or the reader; the reader is then unusable.
[[nodiscard]] std::int64_t read_chunks(Reader& reader, std::int64_t first, HostThreads& threads,
                                       Timeline& timeline, const ChunkSteps& steps);

}  // namespace imgpipe
