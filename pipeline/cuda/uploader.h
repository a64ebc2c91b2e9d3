// Brings rows to the device as they are decoded.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "images/image.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/host/chunk_reading.h"

namespace imgpipe {

// Takes decoded rows and brings them to the device. With `whole` the image is kept in pinned memory too.
class Uploader {
 public:
  Uploader(DeviceRun& run, PinnedMemory& pinned, Timeline& timeline, bool whole, int pass)
      : run_(run), pass_(pass) {
    const auto span = timeline.span("pin", SpanKind::host);
    const Shape target = run.source().shape();
    const std::int64_t rows = chunk_rows(target);
    if (whole) {
      whole_ = Image(target, &pinned);
      return;
    }
    const std::int64_t chunks = (target.height + rows - 1) / rows;
    for (std::size_t i = 0; i < kRingChunks && static_cast<std::int64_t>(i) < chunks; ++i) {
      ring_.push_back({Image({target.width, rows, target.channels, target.sample}, &pinned), kNotUsed});
    }
  }

  // Memory for `rows` rows from `first`, at most chunk_rows() of them, free to be written. kRingChunks at
  // most that were not sent.
  HostView next_chunk(std::int64_t first, std::int64_t rows) {
    if (!whole_.empty()) return whole_.untyped_view().rows(first, rows);
    Slot& slot = ring_[next_slot_];
    next_slot_ = (next_slot_ + 1) % ring_.size();
    if (slot.last_mark != kNotUsed) run_.context().wait_for(slot.last_mark);
    return slot.image.untyped_view().rows(0, rows);
  }

  // Sends the first chunk that next_chunk() gave and that was not sent.
  void send(const HostView& chunk, std::int64_t first) {
    const std::size_t end = run_.upload(chunk, first, pass_);
    if (!whole_.empty()) return;
    ring_[next_sent_].last_mark = end;
    next_sent_ = (next_sent_ + 1) % ring_.size();
  }

  // The whole image once more, for --repeat.
  void send_again(int pass) { (void)run_.upload(std::as_const(whole_).untyped_view(), 0, pass); }

  [[nodiscard]] Image take_whole() { return std::move(whole_); }

 private:
  static constexpr std::size_t kNotUsed = static_cast<std::size_t>(-1);
  struct Slot {
    Image image;
    std::size_t last_mark;
  };

  DeviceRun& run_;
  int pass_;  // that the chunks count as
  Image whole_;
  std::vector<Slot> ring_;
  std::size_t next_slot_ = 0, next_sent_ = 0;
};

}  // namespace imgpipe
