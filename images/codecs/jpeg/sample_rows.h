// The samples of one row of MCUs, all planes of it, and who still needs them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/reconstruct.h"
#include "images/plane.h"

namespace imgpipe {

// Where the planes' rows lie in the memory of one row of MCUs.
class SampleLayout {
 public:
  explicit SampleLayout(const BaselineScan& scan);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // Row y of those that a component has in a row of MCUs.
  [[nodiscard]] std::uint8_t* row(std::uint8_t* memory, int component, std::int64_t y) const {
    const auto c = static_cast<std::size_t>(component);
    return memory + begin_[c] + y * stride_[c];
  }
  // Samples of the blocks of a row of MCUs, which follow one another in `runs`; fills the edges.
  void reconstruct(std::span<const BlockRun> runs, std::uint8_t* memory) const;
  // Pixels: `rows`, of which the first is row `first` of the image. `mcu_rows`: the samples from row
  // `first_mcu_row` of MCUs on, as many as are needed, those around included.
  void make_rows(std::int64_t first, const HostView& rows, std::span<std::uint8_t* const> mcu_rows,
                 std::int64_t first_mcu_row) const;

 private:
  const BaselineScan& scan_;
  std::array<std::int64_t, 3> begin_{}, stride_{};
  std::int64_t bytes_ = 0;
};

}  // namespace imgpipe
