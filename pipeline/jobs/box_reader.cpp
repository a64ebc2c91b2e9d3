#include "pipeline/jobs/box_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "images/error.h"
#include "images/image.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kScratchBytes = std::int64_t{256} << 10;  // fits into a core's second-level cache

class BoxReader final : public Reader {
 public:
  BoxReader(std::unique_ptr<Reader> reader, const Box& box)
      : reader_(std::move(reader)), box_(box), source_(reader_->header().shape) {
    header_ = reader_->header();
    header_.shape.width = box.width;
    header_.shape.height = box.height;
    scratch_shape_ = source_;
    scratch_shape_.height = std::clamp<std::int64_t>(kScratchBytes / source_.row_bytes(), 1, source_.height);
  }

  bool use_less_memory() override { return reader_->use_less_memory(); }
  [[nodiscard]] std::string_view decoder() const noexcept override { return reader_->decoder(); }
  // The rows are read in several calls, even if the caller takes all in one.
  [[nodiscard]] std::int64_t working_bytes(bool /*whole*/) const override {
    return reader_->working_bytes(false) + scratch_shape_.bytes();
  }
  [[nodiscard]] std::int64_t library_bytes(bool /*whole*/) const override {
    return reader_->library_bytes(false);
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (scratch_.empty()) {
      scratch_ = Image(scratch_shape_);
      skip(box_.top);
    }
    if (box_.width == source_.width) {
      reader_->read_rows(rows);
      return;
    }
    const std::int64_t left = box_.left * (source_.row_bytes() / source_.width);
    for (std::int64_t done = 0; done < rows.height;) {
      const HostView scratch = next_scratch(rows.height - done);
      reader_->read_rows(scratch);
      const ConstHostView inside{scratch.row(0) + left, rows.rows(done, scratch.height).shape(),
                                 scratch.stride_bytes};
      copy_pixels(inside, rows.rows(done, scratch.height));
      done += scratch.height;
    }
  }
  void finish() override {
    skip(source_.height - box_.top - box_.height);
    warnings_ = reader_->warnings();
  }

 private:
  HostView next_scratch(std::int64_t rows) {
    return scratch_.untyped_view().rows(0, std::min(rows, scratch_shape_.height));
  }
  void skip(std::int64_t rows) {
    for (; rows > 0; rows -= scratch_shape_.height) reader_->read_rows(next_scratch(rows));
  }

  std::unique_ptr<Reader> reader_;
  const Box box_;
  const Shape source_;
  Shape scratch_shape_;
  Image scratch_;
};

bool is_whole(const Box& box, const Shape& image) {
  return box.width == image.width && box.height == image.height;
}

}  // namespace

void check_box(const Box& box, const Shape& image) {
  const auto fits = [](std::int64_t first, std::int64_t size, std::int64_t of) {
    return first >= 0 && size > 0 && size <= of && first <= of - size;
  };
  if (fits(box.top, box.height, image.height) && fits(box.left, box.width, image.width)) return;
  throw Error(ErrorKind::usage, "box: expected top, left, height, width inside " +
                                    std::to_string(image.height) + "x" + std::to_string(image.width) +
                                    " (height x width), got " + std::to_string(box.top) + ", " +
                                    std::to_string(box.left) + ", " + std::to_string(box.height) + ", " +
                                    std::to_string(box.width));
}

ConstHostView pixels_in(const Box& box, const ConstHostView& image) {
  const std::int64_t pixel_bytes = image.channels * bytes_per_sample(image.sample);
  return {image.row(box.top) + box.left * pixel_bytes,
          {box.width, box.height, image.channels, image.sample},
          image.stride_bytes};
}

std::unique_ptr<Reader> make_box_reader(std::unique_ptr<Reader> reader, const Box& box) {
  const Shape& image = reader->header().shape;
  check_box(box, image);
  if (is_whole(box, image)) return reader;
  return std::make_unique<BoxReader>(std::move(reader), box);
}

}  // namespace imgpipe
