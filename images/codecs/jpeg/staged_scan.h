// A JPEG's entropy-coded data for a device, without stuffing and markers, so that every bit has a fixed
// offset. The host makes it and checks the markers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// Segment i begins with MCU i * restart_interval and ends at a restart marker or the end of the scan.
struct ScanSegment {
  std::uint32_t first_byte = 0;  // offset in the staged bytes; a multiple of kSegmentAlignment
  std::uint32_t bytes = 0;
};
inline constexpr std::size_t kSegmentAlignment = 16;

struct StagedScan {
  std::size_t bytes = 0;  // filled, with zeros between and after segments
  std::vector<ScanSegment> segments;
  std::size_t after_end = 0;  // offset in scan.data just past the end marker
};

// Returns the most bytes that stage_scan() fills. 0 for scans of 2 GiB and more, which cannot be staged.
[[nodiscard]] std::size_t staged_capacity(const BaselineScan& scan);

// Fills `to`, which has staged_capacity() bytes on a 16-byte boundary. Returns nullopt unless the header's
// number of restart markers, numbered in turn, and the end marker after the last segment are present.
[[nodiscard]] std::optional<StagedScan> stage_scan(const BaselineScan& scan, std::span<std::byte> to);

}  // namespace imgpipe
