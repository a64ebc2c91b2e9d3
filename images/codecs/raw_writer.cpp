#include "images/codecs/raw_writer.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "images/codecs/big_endian_rows.h"
#include "images/codecs/codec_parts.h"
#include "images/error.h"

namespace imgpipe {
namespace {

class RawWriter final : public Writer {
 public:
  RawWriter(std::string head, const Shape& shape, bool swap)
      : shape_(shape), head_(std::move(head)), swaps_(swap && bytes_per_sample(shape.sample) == 2) {
    left_ = file_bytes();
  }

  void write_rows(ConstHostView rows) override {
    if (rows.sample != shape_.sample)
      throw Error(ErrorKind::usage, "write_rows: the rows differ in sample type from the writer");
    if (left_ == file_bytes()) append(std::as_bytes(std::span(head_)), rows.height);
    const auto row_bytes = static_cast<std::size_t>(rows.row_bytes());
    for (std::int64_t y = 0; y < rows.height; ++y) {
      std::byte* const stored = append({rows.row(y), row_bytes}, rows.height);
      if (swaps_) copy_big_endian(stored, row_bytes / 2, stored);
    }
  }

  [[nodiscard]] std::int64_t working_bytes() const override { return file_bytes() + list_bytes(); }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t rows) const override {
    return std::min(file_bytes(), part_bytes(rows)) + list_bytes();
  }

  EncodedFile take_finished() override { return std::exchange(file_, {}); }
  EncodedFile finish() override { return take_finished(); }

 private:
  [[nodiscard]] std::int64_t file_bytes() const {
    return static_cast<std::int64_t>(head_.size()) + shape_.bytes();
  }
  // Returns the capacity of a part, given writes of `rows` rows: about 1 MiB or more, so that single-row
  // writes yield few parts.
  [[nodiscard]] std::int64_t part_bytes(std::int64_t rows) const {
    constexpr std::int64_t kPartBytes = std::int64_t{1} << 20;
    const std::int64_t row_bytes = shape_.row_bytes();
    return static_cast<std::int64_t>(head_.size()) + std::max(rows, kPartBytes / row_bytes) * row_bytes;
  }
  // Returns the memory for the list of parts and for unused capacity in the parts.
  [[nodiscard]] std::int64_t list_bytes() const { return 4096 + shape_.bytes() / 4096; }

  // Appends to the current part, or to a new one. `rows` is the number of rows in this write. Returns the
  // position of the copy.
  std::byte* append(Bytes bytes, std::int64_t rows) {
    std::vector<std::byte>* part = file_.parts.empty() ? nullptr : &file_.parts.back();
    if (part == nullptr || part->capacity() - part->size() < bytes.size()) {
      part = &file_.parts.emplace_back();
      part->reserve(static_cast<std::size_t>(std::min(left_, part_bytes(rows))));
    }
    part->insert(part->end(), bytes.begin(), bytes.end());
    left_ -= static_cast<std::int64_t>(bytes.size());
    return part->data() + part->size() - bytes.size();
  }

  Shape shape_;
  std::string head_;
  bool swaps_;
  std::int64_t left_ = 0;  // bytes of the file not yet written
  EncodedFile file_;       // the parts not yet taken
};

}  // namespace

std::unique_ptr<Writer> make_raw_writer(std::string header, const Shape& shape, bool swap) {
  return std::make_unique<RawWriter>(std::move(header), shape, swap);
}

}  // namespace imgpipe
