#include "pipeline/host/resumed_reader.h"

#include <algorithm>
#include <utility>

namespace imgpipe {
namespace {

class ResumedReader final : public Reader {
 public:
  ResumedReader(std::unique_ptr<Reader> reader, std::deque<Image> early, std::vector<std::string>& warnings)
      : reader_(std::move(reader)), early_(std::move(early)), all_warnings_(warnings) {
    header_ = reader_->header();
    for (const Image& image : early_) decoded_ += image.shape().height;
  }
  ~ResumedReader() override { all_warnings_ = reader_->warnings(); }
  ResumedReader(const ResumedReader&) = delete;
  ResumedReader& operator=(const ResumedReader&) = delete;

  [[nodiscard]] bool has_bands() const noexcept override { return reader_->has_bands(); }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    return reader_->band_bytes(rows);
  }
  [[nodiscard]] std::string_view decoder() const noexcept override { return reader_->decoder(); }
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return reader_->working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override {
    return reader_->library_bytes(whole);
  }

 protected:
  void read_next_rows(HostView rows) override {
    const std::int64_t early = copy_early(next_row_, rows);
    next_row_ += rows.height;
    if (early < rows.height) reader_->read_rows(rows.rows(early, rows.height - early));
  }
  void begin_next_band(std::int64_t first, std::int64_t rows) override {
    const std::int64_t from = std::max(first, decoded_);
    if (from < first + rows) reader_->begin_band(from, first + rows - from);
  }
  void do_read_band(std::int64_t first, HostView rows) override {
    const std::int64_t early = copy_early(first, rows);
    if (early < rows.height) reader_->read_band(first + early, rows.rows(early, rows.height - early));
  }

 private:
  // Copies early rows from `first` on; returns how many. Keeps them, because bands may overlap.
  [[nodiscard]] std::int64_t copy_early(std::int64_t first, const HostView& rows) const {
    std::int64_t top = 0;  // of the image in early_
    std::int64_t copied = 0;
    for (const Image& image : early_) {
      const std::int64_t from = std::max(top, first);
      top += image.shape().height;
      const std::int64_t end = std::min(top, first + rows.height);
      if (from >= end) continue;
      copy_pixels(image.untyped_view().rows(from - top + image.shape().height, end - from),
                  rows.rows(from - first, end - from));
      copied += end - from;
    }
    return copied;
  }

  std::unique_ptr<Reader> reader_;
  const std::deque<Image> early_;
  std::int64_t decoded_ = 0;
  std::vector<std::string>& all_warnings_;
  std::int64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<Reader> resume_reader(std::unique_ptr<Reader> reader, std::deque<Image> early,
                                      std::vector<std::string>& warnings) {
  return std::make_unique<ResumedReader>(std::move(reader), std::move(early), warnings);
}

}  // namespace imgpipe
