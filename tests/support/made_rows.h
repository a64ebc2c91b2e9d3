// Images made row by row on demand, and writers that keep only row sums, for images too large for memory.
#pragma once

#include <cstdint>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe::test {

// Makes row y of a grey noise image with values 32..159, except for some rows of 10 and of 200.
void make_row(std::int64_t y, Sample8* row, std::int64_t width);

// Reads such an image, also in bands, with the memory of one row.
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
  void do_read_band(std::int64_t first, HostView rows) override;

 private:
  bool bands_;
  std::int64_t next_row_ = 0;
};

[[nodiscard]] std::uint64_t row_sum(const Sample8* row, std::int64_t width);

// Takes rows, or strips of `strip_rows` rows from several threads, and keeps the sum of each row.
class RowSumWriter final : public Writer {
 public:
  // `sums` has one element per row and must outlive the writer.
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

// Returns the row sums of such an image after hist, contrast and smooth, by the sequential functions; each
// thread processes different rows. `counts` receives the histogram.
[[nodiscard]] std::vector<std::uint64_t> reference_row_sums(std::int64_t width, std::int64_t height,
                                                            int threads, std::vector<std::uint64_t>& counts);

}  // namespace imgpipe::test
