// The entropy-coded data of a JPEG as a device decodes it: without stuffing and without markers, so that a
// bit's place says where it lies. Made on the host, which checks the markers meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// What lies between two restart markers: segment i begins with MCU i * restart_interval. Without restarts the
// scan is one segment.
struct ScanSegment {
  std::uint32_t first_byte = 0;  // of the staged bytes; a multiple of kSegmentAlignment
  std::uint32_t bytes = 0;
};
inline constexpr std::size_t kSegmentAlignment = 16;

struct StagedScan {
  std::size_t bytes = 0;  // that were filled, with zeros between and behind segments
  std::vector<ScanSegment> segments;
  std::size_t behind_end = 0;  // of scan.data: what stands behind the end marker
};

// The most bytes that stage_scan() fills. Scans of 2 GiB and more are not staged: 0.
[[nodiscard]] std::size_t staged_capacity(const BaselineScan& scan);

// Fills `to`, of staged_capacity() bytes on a 16-byte boundary. nullopt where the markers are not in order
// (as scan_pieces.h has it): as many restart markers as the header says, with their numbers in turn, and the
// end marker behind the last segment.
[[nodiscard]] std::optional<StagedScan> stage_scan(const BaselineScan& scan, std::span<std::byte> to);

}  // namespace imgpipe
