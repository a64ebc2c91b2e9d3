#include "pipeline/statistics/counting_writer.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "images/error.h"

namespace imgpipe {
namespace {

// Large enough to amortise a lock per strip.
constexpr std::int64_t kStripBytes = std::int64_t{256} << 10;

template <class Counts>
class CountingWriter final : public Writer {
 public:
  // `empty`: counts of nothing, of `bytes` bytes.
  CountingWriter(const Shape& shape, Counts empty, std::int64_t bytes, std::shared_ptr<Counts> counts)
      : shape_(shape),
        strip_rows_(std::clamp<std::int64_t>(kStripBytes / shape.row_bytes(), 1, shape.height)),
        empty_(std::move(empty)),
        bytes_(bytes),
        counts_(std::move(counts)) {}

  void write_rows(ConstHostView rows) override { count(rows); }

  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) override {
    const std::int64_t height = std::min(strip_rows_, shape_.height - first);
    if (first < 0 || first % strip_rows_ != 0 || rows.height != height)
      throw Error(ErrorKind::usage, "write_strip: the rows are not a strip of the image");
    count(rows);
  }

  [[nodiscard]] std::int64_t working_bytes() const override { return bytes_; }
  [[nodiscard]] std::int64_t strip_bytes() const override { return working_bytes(); }

  EncodedFile finish() override {
    if (rows_counted_ != shape_.height) throw Error(ErrorKind::usage, "finish: rows are missing");
    *counts_ = std::move(free_.back());
    free_.pop_back();
    for (const Counts& others : free_) counts_->add(others);
    free_.clear();
    return {};
  }

 private:
  void count(const ConstHostView& rows) {
    if (rows.width != shape_.width || rows.channels != shape_.channels || rows.sample != shape_.sample)
      throw Error(ErrorKind::usage, "the rows differ in shape from the image");
    Counts counts = take();
    counts.count(rows);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(counts));
    rows_counted_ += rows.height;
  }

  // Takes counts that no thread is using, or new ones.
  Counts take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Counts counts = std::move(free_.back());
        free_.pop_back();
        return counts;
      }
    }
    return empty_;
  }

  const Shape shape_;
  const std::int64_t strip_rows_;
  const Counts empty_;
  const std::int64_t bytes_;
  const std::shared_ptr<Counts> counts_;
  std::mutex mutex_;
  std::vector<Counts> free_;  // one per thread that ever counted concurrently
  std::int64_t rows_counted_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_counting_writer(const Shape& shape, std::shared_ptr<SampleCounts> counts) {
  if (is_float(shape.sample))
    throw Error(ErrorKind::usage, "cannot count float samples; add depth:8 or depth:16");
  return std::make_unique<CountingWriter<SampleCounts>>(shape, SampleCounts(shape.channels, shape.sample),
                                                        SampleCounts::bytes_of(shape.channels, shape.sample),
                                                        std::move(counts));
}

std::unique_ptr<Writer> make_counting_writer(const Shape& shape, std::shared_ptr<FloatCounts> counts,
                                             const std::optional<FloatBins>& bins) {
  return std::make_unique<CountingWriter<FloatCounts>>(shape, FloatCounts(shape.channels, bins),
                                                       FloatCounts::bytes_of(shape.channels, bins),
                                                       std::move(counts));
}

}  // namespace imgpipe
