#include "images/codecs/jpeg/staged_scan.h"

#include <algorithm>

#include "images/codecs/jpeg/entropy_decoder.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/jpeg/scan_chunks.h"
#include "images/codecs/jpeg/unstuffing.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 31;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment;
}

std::int64_t expected_segments(const BaselineScan& scan) {
  const std::int64_t interval = scan.restart_interval;
  return interval > 0 ? (scan.mcus() + interval - 1) / interval : 1;
}

// Returns the scan's data up to the maximum size of all blocks, with every byte stuffed. Excludes data that
// no block can occupy, such as data that cameras append.
std::span<const std::byte> scan_bytes(const BaselineScan& scan) {
  const std::int64_t blocks = scan.mcus() * scan.blocks_in_mcu;
  const std::int64_t most = 2 * blocks * kMaxBlockBytes + 4 * expected_segments(scan);
  return scan.data.first(std::min(scan.data.size(), static_cast<std::size_t>(most)));
}

}  // namespace

std::size_t staged_capacity(const BaselineScan& scan) {
  const std::size_t most = scan_bytes(scan).size();
  if (most >= kMaxBytes) return 0;
  // A segment has at least three bytes: a code and a marker.
  const std::size_t segments = std::min(static_cast<std::size_t>(expected_segments(scan)), most / 3 + 1);
  static_assert(kUnstuffingMargin <= kSegmentAlignment);  // margin after the last segment
  const std::size_t bytes = aligned(most + segments * kSegmentAlignment);
  return bytes < kMaxBytes ? bytes : 0;
}

std::optional<StagedScan> stage_scan(const BaselineScan& scan, std::span<std::byte> to) {
  const std::int64_t expected = expected_segments(scan);
  const std::span<const std::byte> data = scan_bytes(scan);
  if (to.size() < staged_capacity(scan) || to.empty() ||
      expected > static_cast<std::int64_t>(data.size() / 3 + 1))
    return std::nullopt;
  StagedScan staged;
  staged.segments.reserve(static_cast<std::size_t>(expected));
  auto* const first = reinterpret_cast<std::uint8_t*>(to.data());
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(data.data());
  const std::uint8_t* const end = begin + data.size();
  for (Unstuffed at{begin, first};;) {
    std::uint8_t* const segment = at.out;
    at = unstuff(at.in, end, segment);
    staged.segments.push_back(
        {static_cast<std::uint32_t>(segment - first), static_cast<std::uint32_t>(at.out - segment)});
    std::uint8_t* const after = first + aligned(static_cast<std::size_t>(at.out - first));
    std::fill(at.out, after, std::uint8_t{0});
    at.out = after;
    if (end - at.in < 2) return std::nullopt;
    const unsigned code = at.in[1];
    at.in += 2;
    const auto made = static_cast<std::int64_t>(staged.segments.size());
    if (made == expected) {
      if (code != kEndOfImage) return std::nullopt;
      staged.bytes = static_cast<std::size_t>(at.out - first);
      staged.after_end = static_cast<std::size_t>(at.in - begin);
      return staged;
    }
    if (code != kFirstRestart + static_cast<unsigned>((made - 1) % kRestartNumbers)) return std::nullopt;
  }
}

}  // namespace imgpipe
