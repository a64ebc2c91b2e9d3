// The memory layout of the samples of one MCU row, with all its planes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/reconstruct.h"
#include "images/plane.h"

namespace imgpipe {

class SampleLayout {
 public:
  explicit SampleLayout(const BaselineScan& scan);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint8_t* row(std::uint8_t* memory, int component, std::int64_t y) const {
    const auto c = static_cast<std::size_t>(component);
    return memory + begin_[c] + y * stride_[c];
  }
  // Fills `memory` with the samples of an MCU row and fills their edges. `runs`: its blocks, in order.
  void reconstruct(std::span<const BlockRun> runs, std::uint8_t* memory) const;
  // Makes pixels from row `first` of the image on. `mcu_rows`: samples from `first_mcu_row` on, with those
  // needed for interpolation. `luma`: makes the luma of RGB pixels.
  void make_rows(std::int64_t first, const HostView& rows, std::span<std::uint8_t* const> mcu_rows,
                 std::int64_t first_mcu_row, std::optional<Luma> luma = {}) const;

 private:
  const BaselineScan& scan_;
  std::array<std::int64_t, 3> begin_{}, stride_{};
  std::int64_t bytes_ = 0;
};

}  // namespace imgpipe
