// The arithmetic of docs/pixels.md a second time, written from that text and sharing nothing with kernels/:
// no pixel.h, no planes, wide integers and the plainest loops. What every backend is held against.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace imgpipe::test {

// A grid of values: grid[y][x].
using Grid = std::vector<std::vector<std::int64_t>>;

[[nodiscard]] std::int64_t oracle_luma(const std::string& luma, std::int64_t r, std::int64_t g,
                                       std::int64_t b);
[[nodiscard]] std::vector<std::int64_t> oracle_counts(const Grid& plane);
// lo and hi for counts; percent as a fraction of micro-percent (0.5 % = 500000).
struct OracleRange {
  std::int64_t lo, hi;
};
[[nodiscard]] OracleRange oracle_range(const std::vector<std::int64_t>& counts, std::int64_t low_micro,
                                       std::int64_t high_micro);
[[nodiscard]] Grid oracle_stretch(const Grid& plane, OracleRange range);
[[nodiscard]] Grid oracle_smooth(const Grid& plane, const std::string& window, const std::string& border);
// method: linear, area, nearest.
[[nodiscard]] Grid oracle_resize(const Grid& plane, std::int64_t width, std::int64_t height,
                                 const std::string& method);

}  // namespace imgpipe::test
