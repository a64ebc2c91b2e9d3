// Images that are made row by row as they are asked for, and files that are row sums only: for images that no
// memory should hold several times.
#pragma once

#include <cstdint>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe::test {

// Row y of a grey image of noise, values 32..159, but for some rows of 10 and of 200.
void make_row(std::int64_t y, Sample8* row, std::int64_t width);

// Such an image, also in bands. Its memory is a row's.
class MadeRowsReader final : public Reader {
 public:
  MadeRowsReader(std::int64_t width, std::int64_t height, bool bands) : bands_(bands) {
    header_.shape = {width, height, 1};
  }
  [[nodiscard]] bool has_bands() const noexcept override { return bands_; }
  [[nodiscard]] std::int64_t working_bytes(bool) const override { return 0; }

 protected:
  void read_next_rows(HostView rows) override;
  void begin_next_band(std::int64_t, std::int64_t) override {}
  void read_begun_band(std::int64_t first, HostView rows) override;

 private:
  bool bands_;
  std::int64_t next_row_ = 0;
};

[[nodiscard]] std::uint64_t row_sum(const Sample8* row, std::int64_t width);

// Takes rows, or strips of so many rows from several threads, and keeps a sum of each row.
class RowSumWriter final : public Writer {
 public:
  // `sums` has an element for each row and outlives the writer.
  RowSumWriter(std::vector<std::uint64_t>& sums, std::int64_t strip_rows)
      : sums_(sums), strip_rows_(strip_rows) {}
  void write_rows(ConstHostView rows) override;
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) override;
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  [[nodiscard]] EncodedFile finish() override { return {}; }

 private:
  std::vector<std::uint64_t>& sums_;
  const std::int64_t strip_rows_;
  std::int64_t next_row_ = 0;
};

// The sums of the rows of such an image behind hist, contrast and smooth, by the sequential functions, each
// thread over rows of its own; `counts`: the histogram.
[[nodiscard]] std::vector<std::uint64_t> reference_row_sums(std::int64_t width, std::int64_t height,
                                                            int threads, std::vector<std::uint64_t>& counts);

}  // namespace imgpipe::test
