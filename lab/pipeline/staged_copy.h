// A scan staged for a device, with its own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "images/codecs/jpeg/staged_scan.h"
#include "images/error.h"
#include "kernels/jpeg/entropy_decoding.h"

namespace imgpipe {

class StagedCopy {
 public:
  // Throws Error(input) if the markers are not in order.
  explicit StagedCopy(const BaselineScan& scan)
      : memory_((staged_capacity(scan) + kStreamMargin) / sizeof(Line) + 2) {
    std::optional<StagedScan> staged = stage_scan(scan, std::as_writable_bytes(std::span(memory_)));
    if (!staged) throw Error(ErrorKind::input, "invalid order of markers");
    scan_ = *std::move(staged);
  }

  [[nodiscard]] const StagedScan& scan() const { return scan_; }
  [[nodiscard]] const std::uint8_t* bytes() const {
    return reinterpret_cast<const std::uint8_t*>(memory_.data());
  }
  // Includes the margin after the bytes, which may be read.
  [[nodiscard]] std::size_t bytes_with_margin() const { return scan_.bytes + kStreamMargin; }

 private:
  struct alignas(kSegmentAlignment) Line {
    std::byte bytes[kSegmentAlignment];
  };
  std::vector<Line> memory_;
  StagedScan scan_;
};

}  // namespace imgpipe
