// Reading an image into chunks that somebody takes away as they are filled: a device's uploads. Of a reader
// that gives bands to several threads, threads read them at the same time; else one reads row by row.
//
//   next    chunk 0                    chunk 1 ...        one at a time, in order
//   read      band | band | ...          band | ...        as many as there are threads
//   filled                chunk 0            chunk 1 ...  one at a time, in order, never while another begins
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

// The rows of a chunk of an image, and of what one thread reads of it at a time.
[[nodiscard]] inline std::int64_t chunk_rows(const Shape& shape) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kChunkBytes) / shape.row_bytes(), 1,
                                  shape.height);
}
[[nodiscard]] std::int64_t chunk_band_rows(const Shape& shape);

struct ChunkSteps {
  // Memory for rows from `first` on, chunk_rows() or what is left; empty: no more is to be read now. No more
  // than kRingChunks are there that were not filled yet, the one that is asked for among them.
  std::function<HostView(std::int64_t first, std::int64_t rows)> next;
  // All rows of a chunk are there.
  std::function<void(const HostView& chunk, std::int64_t first)> filled;
};

// Reads from row `first` on, and returns the row that is to be read next: the height, or where `next` gave no
// memory. It may be called again from there. The time goes to decode_row(). Rethrows what a step or the
// reader throws; nothing more is then to be had from the reader. From any of the threads steps are called.
[[nodiscard]] std::int64_t read_chunks(Reader& reader, std::int64_t first, HostThreads& threads,
                                       Timeline& timeline, const ChunkSteps& steps);

}  // namespace imgpipe
