#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

// Collects strips of strip_rows, or single rows if strip_rows is 0. The file consists of the samples by rows.
class MemoryWriter final : public Writer {
 public:
  MemoryWriter(const Shape& shape, std::int64_t strip_rows) : image_(shape), strip_rows_(strip_rows) {}
  void write_rows(ConstHostView rows) override {
    write_strip(next_row_, rows);
    next_row_ += rows.height;
  }
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) override {
    copy_pixels(rows, image_.untyped_view().rows(first, rows.height));
  }
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  EncodedFile finish() override {
    const std::byte* bytes = std::as_const(image_).untyped_view().data;
    EncodedFile file;
    file.parts.emplace_back(bytes, bytes + image_.size_bytes());
    return file;
  }

 private:
  Image image_;
  std::int64_t strip_rows_;
  std::int64_t next_row_ = 0;
};

}  // namespace imgpipe::test
