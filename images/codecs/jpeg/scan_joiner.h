// Joins the scans of consecutive strips of an image, each encoded alone, into the scan of the whole image.
// Only a strip's first MCU depends on its predecessor: its DC differences are taken from the predecessor's
// last MCU. All other bits move to a new position, and bytes are stuffed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/codecs/jpeg/mcu_reference.h"

namespace imgpipe {

// The first and the last MCU of a strip, which has whole MCU rows or the image's last rows.
struct StripEnds {
  CodedMcu first, last;
};

class ScanJoiner {
 public:
  // 1: grey, 3: 4:4:4, 6: 4:2:0.
  explicit ScanJoiner(std::int32_t blocks_in_mcu) : blocks_in_mcu_(blocks_in_mcu) {}

  // Appends the next strip's scan, stuffed and padded with ones. Returns the bytes that are complete now.
  [[nodiscard]] std::vector<std::byte> add(const StripEnds& ends, std::span<const std::byte> scan);
  // Pads the last byte with ones, and returns it, or nothing.
  [[nodiscard]] std::vector<std::byte> finish();
  // Returns the most memory held for strips whose scans have at most this many bytes after stuffing all.
  [[nodiscard]] static std::int64_t working_bytes(std::int64_t max_scan_bytes);

 private:
  class StuffedBits;

  std::int32_t blocks_in_mcu_;
  LastDc dc_{};
  std::vector<std::byte> joined_;  // reused
  std::uint64_t rest_ = 0;         // bits of an incomplete byte, from the highest bit on
  int rest_bits_ = 0;
};

}  // namespace imgpipe
