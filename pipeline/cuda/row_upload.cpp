#include "pipeline/cuda/row_upload.h"

#include <algorithm>
#include <utility>

namespace imgpipe {

std::deque<Image> decode_early(Reader& reader, HostThreads& threads, Timeline& timeline,
                               const EngineContext& context) {
  std::deque<Image> early;
  if (context.is_ready()) return early;
  const auto next = [&](std::int64_t, std::int64_t rows) {
    if (context.is_ready()) return HostView();
    Shape shape = reader.header().shape;
    shape.height = rows;
    return early.emplace_back(shape).untyped_view();
  };
  (void)read_chunks(reader, 0, threads, timeline, {next, [](const HostView&, std::int64_t) {}});
  return early;
}

RowUpload::RowUpload(DeviceRun& run, Timeline& timeline, bool whole, int pass)
    : run_(run), timeline_(timeline), pass_(pass) {
  const auto span = timeline.span("pin", SpanKind::host);
  PinnedMemory& pinned = run.context().pinned;
  Shape shape = run.source().shape();
  if (whole) {
    whole_ = Image(shape, &pinned);
    return;
  }
  const std::int64_t rows = chunk_rows(shape);
  const std::int64_t chunks = (shape.height + rows - 1) / rows;
  shape.height = rows;
  while (ring_.size() < kRingChunks && std::ssize(ring_) < chunks) ring_.push_back({Image(shape, &pinned)});
}

void RowUpload::bring_up(Reader& reader, std::deque<Image> early, HostThreads& threads, int device) {
  std::int64_t first = 0;
  while (!early.empty()) {
    const auto span = timeline_.span("staging", SpanKind::host, 2 * early.front().shape().bytes());
    // Freed within the span, because returning memory to the system takes time, too.
    const Image rows = std::move(early.front());
    early.pop_front();
    const HostView chunk = next_chunk(first, rows.shape().height);
    copy_pixels(rows.untyped_view(), chunk);
    send(chunk, first);
    first += rows.shape().height;
  }
  const auto next = [&](std::int64_t row, std::int64_t rows) {
    IMGPIPE_CUDA(cudaSetDevice(device));  // each thread has its own current device
    return next_chunk(row, rows);
  };
  const auto filled = [&](const HostView& chunk, std::int64_t row) {
    IMGPIPE_CUDA(cudaSetDevice(device));
    send(chunk, row);
  };
  (void)read_chunks(reader, first, threads, timeline_, {next, filled});
}

HostView RowUpload::next_chunk(std::int64_t first, std::int64_t rows) {
  if (!whole_.empty()) return whole_.untyped_view().rows(first, rows);
  Chunk& chunk = ring_[next_];
  next_ = (next_ + 1) % ring_.size();
  if (chunk.last_mark != kNotUsed) run_.context().wait_for(chunk.last_mark);
  return chunk.image.untyped_view().rows(0, rows);
}

void RowUpload::send(const HostView& chunk, std::int64_t first) {
  const std::size_t end = run_.upload(chunk, first, pass_);
  if (!whole_.empty()) return;
  ring_[next_sent_].last_mark = end;
  next_sent_ = (next_sent_ + 1) % ring_.size();
}

}  // namespace imgpipe
