// Brings rows to the device as they are decoded.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "images/image.h"
#include "pipeline/cuda/device_run.h"

namespace imgpipe {

inline constexpr std::size_t kChunkBytes = std::size_t{8} << 20;  // a few hundred microseconds of upload
inline constexpr std::size_t kRingChunks = 3;

// Takes decoded rows and brings them to the device. With `whole` the image is kept in pinned memory too.
class Uploader {
 public:
  Uploader(DeviceRun& run, PinnedMemory& pinned, Timeline& timeline, bool whole, int pass)
      : run_(run), pass_(pass) {
    const auto span = timeline.span("pin", SpanKind::host);
    const Shape target = run.source().shape();
    chunk_rows_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(kChunkBytes) / target.row_bytes(), 1,
                                           target.height);
    if (whole) {
      whole_ = Image(target, &pinned);
      return;
    }
    const std::int64_t chunks = (target.height + chunk_rows_ - 1) / chunk_rows_;
    for (std::size_t i = 0; i < kRingChunks && static_cast<std::int64_t>(i) < chunks; ++i) {
      ring_.push_back(
          {Image({target.width, chunk_rows_, target.channels, target.sample}, &pinned), kNotUsed});
    }
  }

  [[nodiscard]] std::int64_t chunk_rows() const { return chunk_rows_; }

  // Memory for `rows` rows from `first`, free to be written.
  HostView next_chunk(std::int64_t first, std::int64_t rows) {
    if (!whole_.empty()) return whole_.untyped_view().rows(first, rows);
    Slot& slot = ring_[next_slot_];
    if (slot.last_mark != kNotUsed) run_.times().wait_for(slot.last_mark);
    return slot.image.untyped_view().rows(0, rows);
  }

  // Sends the chunk that next_chunk() gave.
  void send(const HostView& chunk, std::int64_t first) {
    const std::size_t end = run_.upload(chunk, first, pass_);
    if (!whole_.empty()) return;
    ring_[next_slot_].last_mark = end;
    next_slot_ = (next_slot_ + 1) % ring_.size();
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
  std::int64_t chunk_rows_ = 1;
  Image whole_;
  std::vector<Slot> ring_;
  std::size_t next_slot_ = 0;
};

}  // namespace imgpipe
