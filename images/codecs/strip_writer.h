// The shared part of writers that encode strips independently, on any thread: JPEG, PNG and TIFF.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

// Collects rows into strips. All but the last have the same height, which depends on the shape and options.
class StripWriter : public Writer {
 public:
  [[nodiscard]] std::int64_t strip_rows() const noexcept final { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) final;
  void write_rows(ConstHostView rows) final;

 protected:
  // `strip_rows`: 1 to the image's height.
  StripWriter(Shape shape, std::int64_t strip_rows) : shape_(shape), strip_rows_(strip_rows) {}

  // Encodes a valid strip; called concurrently.
  virtual void encode_strip(std::int64_t first, ConstHostView rows) = 0;

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t strip_count() const noexcept {
    return (shape_.height + strip_rows_ - 1) / strip_rows_;
  }
  [[nodiscard]] bool is_strip(std::int64_t first) const noexcept {
    return first >= 0 && first < shape_.height && first % strip_rows_ == 0;
  }
  // Returns the number of rows in the strip that begins at row `first`.
  [[nodiscard]] std::int64_t rows_from(std::int64_t first) const noexcept {
    return std::min(strip_rows_, shape_.height - first);
  }
  // The maximum memory of rows that do not form a complete strip yet. finish() releases it.
  [[nodiscard]] std::int64_t gathered_bytes() const noexcept { return strip_rows_ * shape_.row_bytes(); }
  void drop_gathered() { gathered_ = Image(); }

 private:
  Shape shape_;
  std::int64_t strip_rows_;
  Image gathered_;
  std::int64_t next_row_ = 0;  // of write_rows()
};

// Reusable per-thread state for encoding a strip; at most one per concurrent thread.
template <class Worker>
class Workers {
 public:
  // Returns an idle worker, or makes a new one.
  template <class Make>
  [[nodiscard]] Worker take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Worker worker = std::move(free_.back());
        free_.pop_back();
        return worker;
      }
    }
    return make();
  }
  void give_back(Worker worker) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(worker));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    free_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Worker> free_;
};

}  // namespace imgpipe
