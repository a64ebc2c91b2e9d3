#include "images/codecs/raw_reader.h"

#include <algorithm>

#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe {
namespace {

class RawReader final : public Reader {
 public:
  RawReader(const RawLayout& layout, Bytes bytes, const InputFile* rest, const DecodeOptions& options)
      : layout_(layout),
        conversion_(layout.name, layout.type, layout.big_endian, options),
        bytes_(bytes),
        rest_(rest) {
    header_.format = layout.format;
    header_.shape = {layout.width, layout.height, layout.channels, conversion_.sample()};
    header_.bits_per_sample = 8 * imgpipe::stored_bytes(layout.type);
    header_.sample_format = format_of(layout.type);
    warnings_ = layout.warnings;
    check_header(header_.shape, options);
    const std::int64_t file_bytes =
        rest != nullptr ? rest->size_bytes() : static_cast<std::int64_t>(bytes.size());
    const std::int64_t left = file_bytes - static_cast<std::int64_t>(layout.data_at);
    stored_rows_ = std::clamp<std::int64_t>(left / layout.row_bytes(), 0, layout.height);
    const std::int64_t following = left - layout.row_bytes() * layout.height;
    if (following < 0) {
      if (!options.lenient()) throw_truncated();
      warnings_.push_back("damaged " + std::string(layout.name) +
                          " file: " + std::to_string(layout.height - stored_rows_) + " rows are missing");
    } else if (following > 0) {
      warnings_.push_back(following_bytes(static_cast<std::size_t>(following), false));
    }
  }

  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    return rest_ != nullptr ? window_rows() * layout_.row_bytes() : 0;
  }

 protected:
  void read_next_rows(HostView rows) override {
    for (std::int64_t y = 0; y < rows.height;) {
      const std::int64_t count = std::min(rows.height - y, window_rows());
      read_window(next_row_, rows.rows(y, count));
      y += count;
      next_row_ += count;
    }
  }

  void finish() override { window_ = {}; }

 private:
  [[noreturn]] void throw_truncated() const {
    throw Error(ErrorKind::input, std::string(layout_.name) + ": the file is truncated");
  }

  // Returns the number of rows that are read at once.
  [[nodiscard]] std::int64_t window_rows() const {
    constexpr std::int64_t kWindowBytes = std::int64_t{1} << 18;
    return std::clamp<std::int64_t>(kWindowBytes / layout_.row_bytes(), 1, layout_.height);
  }

  // Reads the rows from `first` on, which are consecutive in the file.
  void read_window(std::int64_t first, HostView rows) {
    const std::int64_t begin = layout_.from_bottom ? layout_.height - first - rows.height : first;
    const std::int64_t count = std::clamp<std::int64_t>(stored_rows_ - begin, 0, rows.height);
    const std::byte* const stored = stored_bytes_of(begin, count);
    for (std::int64_t i = 0; i < rows.height; ++i) {
      const std::int64_t y = layout_.from_bottom ? rows.height - 1 - i : i;
      if (i < count) {
        conversion_.convert(stored + i * layout_.row_bytes(), rows.width * rows.channels, rows.row(y));
      } else {
        fill_missing(rows.rows(y, 1));
      }
    }
  }

  const std::byte* stored_bytes_of(std::int64_t begin, std::int64_t count) {
    const std::int64_t at = static_cast<std::int64_t>(layout_.data_at) + begin * layout_.row_bytes();
    if (rest_ == nullptr || count == 0) return bytes_.data() + (count == 0 ? 0 : at);
    window_.resize(static_cast<std::size_t>(count * layout_.row_bytes()));
    // Fewer bytes mean that the file was longer when it was opened.
    if (rest_->read_at(at, window_) < window_.size()) throw_truncated();
    return window_.data();
  }

  RawLayout layout_;
  SampleConversion conversion_;
  Bytes bytes_;  // the whole file, or its beginning
  const InputFile* rest_;
  std::int64_t stored_rows_ = 0;  // complete in the file, in its order
  std::int64_t next_row_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace

std::unique_ptr<Reader> make_raw_reader(const RawLayout& layout, Bytes bytes, const InputFile* rest,
                                        const DecodeOptions& options) {
  return std::make_unique<RawReader>(layout, bytes, rest, options);
}

FileClaim raw_claim(const RawLayout& layout) {
  return {.width = layout.width,
          .height = layout.height,
          .max_pixel_bytes = std::int64_t{layout.channels} * stored_bytes(layout.type)};
}

}  // namespace imgpipe
