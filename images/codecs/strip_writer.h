// What the writers share whose strips are encoded by themselves, on any thread: PNG and TIFF.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

// Gathers rows into strips. All but the last have the same height, which follows from the image's shape and
// the options.
class StripWriter : public Writer {
 public:
  [[nodiscard]] std::int64_t strip_rows() const noexcept final { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) final;
  void write_rows(ConstHostView rows) final;

 protected:
  // `strip_rows`: 1 to the image's height.
  StripWriter(Shape shape, std::int64_t strip_rows) : shape_(shape), strip_rows_(strip_rows) {}

  // One that is as it should be; from several threads at once.
  virtual void encode_strip(std::int64_t first, ConstHostView rows) = 0;

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t strip_count() const noexcept {
    return (shape_.height + strip_rows_ - 1) / strip_rows_;
  }
  [[nodiscard]] bool is_strip(std::int64_t first) const noexcept {
    return first >= 0 && first < shape_.height && first % strip_rows_ == 0;
  }
  // Rows of the strip that begins with row `first`.
  [[nodiscard]] std::int64_t rows_from(std::int64_t first) const noexcept {
    return std::min(strip_rows_, shape_.height - first);
  }
  // Rows that make no strip yet: the most that they take. They go when the file is finished.
  [[nodiscard]] std::int64_t gathered_bytes() const noexcept { return strip_rows_ * shape_.row_bytes(); }
  void drop_gathered() { gathered_ = Image(); }

 private:
  Shape shape_;
  std::int64_t strip_rows_;
  Image gathered_;
  std::int64_t next_row_ = 0;  // of write_rows()
};

// What a thread needs for a strip, kept for the next one: no more than threads have asked for at a time.
template <class Worker>
class Workers {
 public:
  // One that is free, or what `make` makes.
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
