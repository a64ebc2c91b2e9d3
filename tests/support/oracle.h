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
// white: the largest value, 255 or 65535.
[[nodiscard]] std::vector<std::int64_t> oracle_counts(const Grid& plane, std::int64_t white = 255);
// lo and hi for counts; percent as a fraction of micro-percent (0.5 % = 500000).
struct OracleRange {
  std::int64_t lo, hi;
};
[[nodiscard]] OracleRange oracle_range(const std::vector<std::int64_t>& counts, std::int64_t low_micro,
                                       std::int64_t high_micro);
// From samples up to `white` to samples up to `to`.
[[nodiscard]] Grid oracle_stretch(const Grid& plane, OracleRange range, std::int64_t white = 255,
                                  std::int64_t to = 255);
[[nodiscard]] Grid oracle_depth(const Grid& plane, std::int64_t white, std::int64_t to);
[[nodiscard]] Grid oracle_smooth(const Grid& plane, const std::string& window, const std::string& border);
[[nodiscard]] Grid oracle_equalize(const Grid& plane, std::int64_t white = 255);
[[nodiscard]] Grid oracle_clahe(const Grid& plane, double clip, std::int64_t tiles, std::int64_t white = 255);
// size: 3 or 5.
[[nodiscard]] Grid oracle_median(const Grid& plane, std::int64_t size);
// method: linear, area, nearest.
[[nodiscard]] Grid oracle_resize(const Grid& plane, std::int64_t width, std::int64_t height,
                                 const std::string& method, std::int64_t white = 255);

}  // namespace imgpipe::test
