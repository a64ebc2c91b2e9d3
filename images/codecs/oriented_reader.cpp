// Applies an orientation to the rows of another reader.
//
// Horizontal mirroring works row by row. All other orientations may need the last stored row for the first
// output row. They read the stored rows in strips and write each to its position in one oriented image, which
// is the caller's if it asks for all rows at once.
//
// If the stored reader supports bands, the threads that read bands first orient the whole image together:
// each reads and orients the next strip until none is left.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "images/codecs/codec_parts.h"

namespace imgpipe {
namespace {

std::int64_t pixel_bytes(const Shape& shape) {
  return shape.channels * bytes_per_sample(shape.sample);
}

class MirroringReader final : public Reader {
 public:
  explicit MirroringReader(std::unique_ptr<Reader> stored) : stored_(std::move(stored)) {
    header_ = stored_->header();
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return stored_->working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override {
    return stored_->library_bytes(whole);
  }
  [[nodiscard]] bool has_bands() const noexcept override { return stored_->has_bands(); }
  [[nodiscard]] bool has_grey_rows() const noexcept override { return stored_->has_grey_rows(); }
  void use_grey_rows(Luma luma) override {
    stored_->use_grey_rows(luma);
    luma_ = luma;
  }
  bool use_less_memory() override { return stored_->use_less_memory(); }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    return stored_->band_bytes(rows);
  }
  [[nodiscard]] std::string_view decoder() const noexcept override { return stored_->decoder(); }

 protected:
  void read_next_rows(HostView rows) override {
    stored_->read_rows(rows);
    mirror_all(rows);
  }

  void finish() override { warnings_ = stored_->warnings(); }

  void begin_next_band(std::int64_t first, std::int64_t rows) override {
    {
      const std::lock_guard lock(mutex_);
      ++bands_begun_;
    }
    stored_->begin_band(first, rows);
  }

  void do_read_band(std::int64_t first, HostView rows) override {
    stored_->read_band(first, rows);
    mirror_all(rows);
    const std::lock_guard lock(mutex_);
    if (--bands_begun_ == 0) warnings_ = stored_->warnings();
  }

 private:
  static void mirror_all(const HostView& rows) {
    for (std::int64_t y = 0; y < rows.height; ++y) mirror(rows.row(y), rows.width, pixel_bytes(rows.shape()));
  }

  static void mirror(std::byte* row, std::int64_t width, std::int64_t pixel) {
    for (std::int64_t left = 0, right = width - 1; left < right; ++left, --right)
      std::swap_ranges(row + left * pixel, row + (left + 1) * pixel, row + right * pixel);
  }

  std::unique_ptr<Reader> stored_;
  std::mutex mutex_;
  int bands_begun_ = 0;  // begun and not yet read; while 0, no thread is in the stored reader
};

class TurningReader final : public WholeImageReader {
 public:
  TurningReader(std::unique_ptr<Reader> stored, std::pmr::memory_resource* memory)
      : WholeImageReader(memory), stored_(std::move(stored)) {
    header_ = stored_->header();
    const Shape unscaled = oriented_shape(unscaled_shape(header_), header_.orientation);
    header_.shape = oriented_shape(header_.shape, header_.orientation);
    if (header_.scale > 1) {
      header_.stored_width = unscaled.width;
      header_.stored_height = unscaled.height;
    }
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return stored_->working_bytes(false) + strip_shape().bytes() + WholeImageReader::working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool) const override { return stored_->library_bytes(false); }
  [[nodiscard]] bool has_bands() const noexcept override { return stored_->has_bands(); }
  [[nodiscard]] bool has_grey_rows() const noexcept override { return stored_->has_grey_rows(); }
  void use_grey_rows(Luma luma) override {
    stored_->use_grey_rows(luma);
    luma_ = luma;
  }
  bool use_less_memory() override { return stored_->use_less_memory(); }
  // Every thread that reads a band has a strip.
  [[nodiscard]] std::int64_t band_bytes(std::int64_t) const override {
    const Shape strip = strip_shape();
    return strip.bytes() + stored_->band_bytes(strip.height);
  }
  [[nodiscard]] std::string_view decoder() const noexcept override { return stored_->decoder(); }

 protected:
  void decode(HostView whole) override {
    const Shape& stored = stored_->header().shape;
    Image strip(strip_shape(), memory());
    for (std::int64_t first = 0; first < stored.height; first += strip.shape().height) {
      const HostView rows =
          strip.untyped_view().rows(0, std::min(strip.shape().height, stored.height - first));
      stored_->read_rows(rows);
      turn(first, rows, whole);
    }
    warnings_ = stored_->warnings();
  }

  void begin_next_band(std::int64_t, std::int64_t) override {}  // every band needs all strips

  void do_read_band(std::int64_t first, HostView rows) override {
    orient_together();
    copy_pixels(std::as_const(turned_).untyped_view().rows(first, rows.height), rows);
  }

 private:
  // ---- on every thread that reads a band ---------------------------------------------------------------

  // Reads and orients strips until the image is complete; rethrows the first error of any thread.
  void orient_together() {
    Image strip;
    std::unique_lock lock(mutex_);
    while (!error_ && !is_turned()) {
      if (next_row_ == stored_->header().shape.height) {
        changed_.wait(lock);  // until the last strips are done
        continue;
      }
      try {
        orient_next_strip(strip, lock);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!error_) error_ = std::current_exception();
      }
    }
    changed_.notify_all();
    if (error_) std::rethrow_exception(error_);
  }

  // Called with the mutex locked; unlocks it while reading and orienting.
  void orient_next_strip(Image& strip, std::unique_lock<std::mutex>& lock) {
    if (turned_.empty()) turned_ = Image(row_shape(), memory());
    if (strip.empty()) strip = Image(strip_shape(), memory());
    const std::int64_t first = next_row_;
    const HostView rows =
        strip.untyped_view().rows(0, std::min(strip.shape().height, stored_->header().shape.height - first));
    stored_->begin_band(first, rows.height);
    next_row_ += rows.height;
    lock.unlock();
    stored_->read_band(first, rows);
    turn(first, rows, turned_.untyped_view());
    lock.lock();
    rows_turned_ += rows.height;
    if (is_turned()) warnings_ = stored_->warnings();
  }

  [[nodiscard]] bool is_turned() const { return rows_turned_ == stored_->header().shape.height; }

  // ------------------------------------------------------------------------------------------------------

  // Writes the stored rows from `first` on to their position.
  void turn(std::int64_t first, const HostView& rows, const HostView& whole) const {
    orient_pixels(rows, destination_of(first, rows.height, whole), header_.orientation);
  }

  // A strip's rows become columns: enough of them to fill whole cache lines, few enough for the strip to stay
  // in the L2 cache.
  [[nodiscard]] Shape strip_shape() const {
    constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
    constexpr std::int64_t kMaxRows = 64;
    Shape strip = stored_->row_shape();
    const std::int64_t row_bytes = stored_->header().shape.row_bytes();
    strip.height = std::min(strip.height, std::clamp<std::int64_t>(kStripBytes / row_bytes, 1, kMaxRows));
    return strip;
  }

  // Returns the view of the upright image that `count` stored rows from `first` map to: rows or columns.
  [[nodiscard]] HostView destination_of(std::int64_t first, std::int64_t count, HostView whole) const {
    const Orientation turn = header_.orientation;
    if (turn == Orientation::rotate_180 || turn == Orientation::mirror_vertical)
      return whole.rows(whole.height - first - count, count);
    const bool from_right = turn == Orientation::rotate_90 || turn == Orientation::transverse;
    const std::int64_t column = from_right ? whole.width - first - count : first;
    return {whole.data + column * pixel_bytes(whole.shape()),
            {count, whole.height, whole.channels, whole.sample},
            whole.stride_bytes};
  }

  std::unique_ptr<Reader> stored_;
  // For bands.
  std::mutex mutex_;
  std::condition_variable changed_;
  Image turned_;
  std::int64_t next_row_ = 0, rows_turned_ = 0;  // of the stored image
  std::exception_ptr error_;
};

}  // namespace

std::unique_ptr<Reader> make_oriented_reader(std::unique_ptr<Reader> stored,
                                             std::pmr::memory_resource* memory) {
  if (stored->header().orientation == Orientation::mirror_horizontal)
    return std::make_unique<MirroringReader>(std::move(stored));
  return std::make_unique<TurningReader>(std::move(stored), memory);
}

}  // namespace imgpipe
