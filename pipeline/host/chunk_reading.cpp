#include "pipeline/host/chunk_reading.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "pipeline/decode_row.h"
#include "pipeline/host/ordered_run.h"
#include "pipeline/memory_need.h"

namespace imgpipe {
namespace {

// Enough bands that each thread of a typical machine has one from the chunks in progress.
constexpr std::int64_t kBandsPerChunk = 8;
// JPEG readers return rows in groups of 8 or 16.
constexpr std::int64_t kChunkRowsMultiple = 16;

class ChunkReading {
 public:
  ChunkReading(Reader& reader, std::int64_t first, HostThreads& threads, Timeline& timeline,
               const ChunkSteps& steps)
      : reader_(reader),
        threads_(threads),
        timeline_(timeline),
        steps_(steps),
        shape_(reader.header().shape),
        row_(first) {}

  std::int64_t run() {
    bands_.resize(bands_in_progress());
    run_in_order(threads_, bands_.size(),
                 {[this](std::size_t slot, int) { return begin(bands_[slot]); },
                  [this](std::size_t slot, int thread) { read(bands_[slot], thread); },
                  [this](std::size_t slot, int) { end(bands_[slot]); }});
    return row_;
  }

 private:
  struct Band {
    std::int64_t first = 0;
    HostView rows;
    bool ends_chunk = false;
    HostView chunk;
    std::int64_t chunk_first = 0;
    Span span;
  };

  // Bands end in order: before a chunk begins, all bands of the chunk kRingChunks earlier must be filled.
  [[nodiscard]] std::size_t bands_in_progress() const {
    const std::int64_t bands_a_chunk =
        (chunk_rows(shape_) + chunk_band_rows(shape_) - 1) / chunk_band_rows(shape_);
    const std::int64_t most = (static_cast<std::int64_t>(kRingChunks) - 1) * bands_a_chunk + 1;
    return static_cast<std::size_t>(std::min<std::int64_t>(most, bands_at_once(threads_.count())));
  }

  bool begin(Band& band) {
    if (row_ == shape_.height) return false;
    if (row_ == chunk_first_ + chunk_.height || chunk_.empty()) {
      const std::lock_guard lock(mutex_);
      chunk_ = steps_.next(row_, std::min(chunk_rows(shape_), shape_.height - row_));
      chunk_first_ = row_;
      if (chunk_.empty()) return false;
    }
    const std::int64_t chunk_end = chunk_first_ + chunk_.height;
    const std::int64_t rows = std::min(chunk_band_rows(shape_), chunk_end - row_);
    reader_.begin_band(row_, rows);
    band.first = row_;
    band.rows = chunk_.rows(row_ - chunk_first_, rows);
    band.chunk = chunk_;
    band.chunk_first = chunk_first_;
    row_ += rows;
    band.ends_chunk = row_ == chunk_end;
    return true;
  }

  void read(Band& band, int thread) {
    const std::int64_t start = timeline_.now_ns();
    reader_.read_band(band.first, band.rows);
    band.span = {decode_row(reader_), timeline_.track_of(thread, threads_.count()),
                 SpanKind::host,      start,
                 timeline_.now_ns(),  band.rows.bytes()};
  }

  void end(Band& band) {
    const std::lock_guard lock(mutex_);
    timeline_.add(std::move(band.span));
    if (band.ends_chunk) steps_.filled(band.chunk, band.chunk_first);
  }

  Reader& reader_;
  HostThreads& threads_;
  Timeline& timeline_;
  const ChunkSteps& steps_;
  const Shape shape_;
  std::int64_t row_;  // the next to begin
  HostView chunk_;    // the one being begun
  std::int64_t chunk_first_ = 0;
  std::mutex mutex_;  // guards calls of the steps, and the timeline
  std::vector<Band> bands_;
};

std::int64_t read_by_rows(Reader& reader, std::int64_t first, Timeline& timeline, const ChunkSteps& steps) {
  const Shape& shape = reader.header().shape;
  while (first < shape.height) {
    const HostView chunk = steps.next(first, std::min(chunk_rows(shape), shape.height - first));
    if (chunk.empty()) break;
    {
      auto span = timeline.span("decode", SpanKind::host, chunk.bytes());
      reader.read_rows(chunk);
      span.set_name(decode_row(reader));
    }
    steps.filled(chunk, first);
    first += chunk.height;
  }
  return first;
}

}  // namespace

std::int64_t chunk_band_rows(const Shape& shape) {
  const std::int64_t rows = (chunk_rows(shape) + kBandsPerChunk - 1) / kBandsPerChunk;
  const std::int64_t whole = (rows + kChunkRowsMultiple - 1) / kChunkRowsMultiple * kChunkRowsMultiple;
  return std::min(whole, chunk_rows(shape));
}

std::int64_t read_chunks(Reader& reader, std::int64_t first, HostThreads& threads, Timeline& timeline,
                         const ChunkSteps& steps) {
  if (!reader.has_bands()) return read_by_rows(reader, first, timeline, steps);
  return ChunkReading(reader, first, threads, timeline, steps).run();
}

}  // namespace imgpipe
