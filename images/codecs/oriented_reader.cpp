// Turns the rows of another reader upright.
//
// Rows that are mirrored from left to right are turned where they come. All other orientations may need the
// last stored row for the first one given: stored rows are read in strips, each of which is put in its place
// in the one image turned, which is the caller's where it asks for all rows at once.
#include <algorithm>
#include <utility>

#include "images/codecs/codec_parts.h"

namespace imgpipe {
namespace {

std::int64_t pixel_bytes(const Shape& shape) {
  return shape.channels * sample_bytes(shape.sample);
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

 protected:
  void read_next_rows(HostView rows) override {
    stored_->read_rows(rows);
    for (std::int64_t y = 0; y < rows.height; ++y) mirror(rows.row(y), rows.width, pixel_bytes(rows.shape()));
  }

  void finish() override { warnings_ = stored_->warnings(); }

 private:
  static void mirror(std::byte* row, std::int64_t width, std::int64_t pixel) {
    for (std::int64_t left = 0, right = width - 1; left < right; ++left, --right)
      std::swap_ranges(row + left * pixel, row + (left + 1) * pixel, row + right * pixel);
  }

  std::unique_ptr<Reader> stored_;
};

class TurningReader final : public WholeImageReader {
 public:
  TurningReader(std::unique_ptr<Reader> stored, std::pmr::memory_resource* memory)
      : WholeImageReader(memory), stored_(std::move(stored)) {
    header_ = stored_->header();
    header_.shape = oriented_shape(header_.shape, header_.orientation);
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return stored_->working_bytes(false) + strip_shape().bytes() + WholeImageReader::working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool) const override { return stored_->library_bytes(false); }

 protected:
  void decode(HostView whole) override {
    const Shape& stored = stored_->header().shape;
    Image strip(strip_shape(), memory());
    for (std::int64_t first = 0; first < stored.height; first += strip.shape().height) {
      const HostView rows =
          strip.untyped_view().rows(0, std::min(strip.shape().height, stored.height - first));
      stored_->read_rows(rows);
      orient_pixels(rows, place_of(first, rows.height, whole), header_.orientation);
    }
    warnings_ = stored_->warnings();
  }

 private:
  // So many rows that what they become of a column fills whole cache lines, and that they stay in the second
  // cache while they are turned.
  [[nodiscard]] Shape strip_shape() const {
    constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
    constexpr std::int64_t kMostRows = 64;
    Shape strip = stored_->header().shape;
    strip.height =
        std::min(strip.height, std::clamp<std::int64_t>(kStripBytes / strip.row_bytes(), 1, kMostRows));
    return strip;
  }

  // Where the stored rows from `first` on, `count` of them, are in the upright image: rows or columns of it.
  [[nodiscard]] HostView place_of(std::int64_t first, std::int64_t count, HostView whole) const {
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
};

}  // namespace

std::unique_ptr<Reader> make_oriented_reader(std::unique_ptr<Reader> stored,
                                             std::pmr::memory_resource* memory) {
  if (stored->header().orientation == Orientation::mirror_horizontal)
    return std::make_unique<MirroringReader>(std::move(stored));
  return std::make_unique<TurningReader>(std::move(stored), memory);
}

}  // namespace imgpipe
