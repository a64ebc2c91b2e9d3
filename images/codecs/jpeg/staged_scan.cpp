#include "images/codecs/jpeg/staged_scan.h"

#include <algorithm>
#include <cstring>

#include "images/codecs/jpeg/scan_pieces.h"

namespace imgpipe {
namespace {

constexpr unsigned kFirstRestart = 0xD0, kEndOfImage = 0xD9;  // T.81, table B.1
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment;
}

// As the header says.
std::int64_t expected_segments(const BaselineScan& scan) {
  const std::int64_t interval = scan.restart_interval;
  return interval > 0 ? (scan.mcus() + interval - 1) / interval : 1;
}

// Copies bytes without stuffing from `at` on, up to a marker's 0xFF or the end of the data; moves `at` there.
// Returns behind the last one that was written.
std::byte* copy_unstuffed(std::span<const std::byte> data, std::size_t& at, std::byte* out) {
  const std::byte* const end = data.data() + data.size();
  const std::byte* in = data.data() + at;
  while (in < end) {
    const auto left = static_cast<std::size_t>(end - in);
    const void* const found = std::memchr(in, 0xFF, left);
    const bool stuffed = found != nullptr && static_cast<const std::byte*>(found) + 1 < end &&
                         static_cast<const std::byte*>(found)[1] == std::byte{0};
    const std::byte* const stop = found == nullptr ? end : static_cast<const std::byte*>(found);
    const std::size_t count = static_cast<std::size_t>(stop - in) + (stuffed ? 1 : 0);
    std::memcpy(out, in, count);
    out += count;
    in += count + (stuffed ? 1 : 0);
    if (!stuffed) break;
  }
  at = static_cast<std::size_t>(in - data.data());
  return out;
}

}  // namespace

std::size_t staged_capacity(const BaselineScan& scan) {
  if (scan.data.size() >= kMostBytes) return 0;
  // Of three bytes and more: a code and a marker.
  const std::size_t segments =
      std::min(static_cast<std::size_t>(expected_segments(scan)), scan.data.size() / 3 + 1);
  const std::size_t bytes = aligned(scan.data.size() + segments * kSegmentAlignment);
  return bytes < kMostBytes ? bytes : 0;
}

std::optional<StagedScan> stage_scan(const BaselineScan& scan, std::span<std::byte> to) {
  const std::int64_t expected = expected_segments(scan);
  const std::span<const std::byte> data = scan.data;
  if (to.size() < staged_capacity(scan) || to.empty() ||
      expected > static_cast<std::int64_t>(data.size() / 3 + 1))
    return std::nullopt;
  StagedScan staged;
  staged.segments.reserve(static_cast<std::size_t>(expected));
  std::byte* out = to.data();
  for (std::size_t at = 0;;) {
    std::byte* const begin = out;
    out = copy_unstuffed(data, at, out);
    staged.segments.push_back(
        {static_cast<std::uint32_t>(begin - to.data()), static_cast<std::uint32_t>(out - begin)});
    std::byte* const behind = to.data() + aligned(static_cast<std::size_t>(out - to.data()));
    std::fill(out, behind, std::byte{0});
    out = behind;
    if (data.size() - at < 2) return std::nullopt;
    const unsigned code = std::to_integer<unsigned>(data[at + 1]);
    at += 2;
    const auto made = static_cast<std::int64_t>(staged.segments.size());
    if (made == expected) {
      if (code != kEndOfImage) return std::nullopt;
      staged.bytes = static_cast<std::size_t>(out - to.data());
      staged.behind_end = at;
      return staged;
    }
    if (code != kFirstRestart + static_cast<unsigned>((made - 1) % kRestartNumbers)) return std::nullopt;
  }
}

}  // namespace imgpipe
