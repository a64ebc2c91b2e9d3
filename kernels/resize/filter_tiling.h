// The tiles in which a CUDA device resizes by Pillow's filters, and their arrays in shared memory.
//
// The first pass is the one across the rows, or the one down the columns if down_first(). Both passes have
// the same code: the first one weights samples along its axis and leaves lines of the other axis apart; the
// second one weights these lines. A tile is `columns` outputs of the first axis by `rows` of the second one.
// A step is the taps that are weighted at once, a unit the samples of a step on four lines, a quad four
// lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "images/plane.h"

namespace imgpipe {

constexpr int kFilterThreads = 256;
constexpr int kFilterLines = 4;                         // of a unit
constexpr int kFilterColumnGroup = 32;                  // a warp's columns
constexpr std::int64_t kFilterSharedBytes = 48 * 1024;  // that any block may use

// Sizes of the samples' type, for host code without CUDA's types.
struct FilterSizes {
  int taps;          // of a step
  int unit_bytes;    // = taps * kFilterLines * size of a sample
  int weight_bytes;  // of a step
};

// An axis with `in` input and `out` output samples, of which `made` are computed. `window`: of the table, 0
// for an axis without a pass.
struct FilterExtent {
  std::int64_t in, out, made, window;

  // Returns the number of steps that cover all weights of an output, the first one starting at a multiple of
  // `taps`.
  [[nodiscard]] std::int64_t steps(int taps) const { return taps == 1 ? weights() : weights() / taps + 1; }
  // Returns the number of input samples from the start of a tile on that its steps read, at most. Tiles start
  // at multiples of four.
  [[nodiscard]] std::int64_t span(std::int64_t outputs) const {
    const std::int64_t moved = std::min((outputs - 1) * in / out + 2, in);
    return (moved + weights() + 2 * kFilterLines) / kFilterLines * kFilterLines;
  }

 private:
  [[nodiscard]] std::int64_t weights() const { return std::max<std::int64_t>(window, 4); }
};

struct FilterTiling {
  int group_bits = 0, columns = 0;  // columns = kFilterColumnGroup << group_bits
  int rows = 0;
  int quads = 0;  // that are staged at once; even
  int pitch = 0;  // input samples of a staged line; a multiple of four
  int first_steps = 0, second_steps = 0;
  int middle_quads = 0;  // of the first pass's results; even
  // Offsets in shared memory, in bytes; the staged units come first.
  int middle_at = 0, first_weights_at = 0, second_weights_at = 0, starts_at = 0;
  int bytes = 0;

  // Returns false if no tile fits into shared memory.
  [[nodiscard]] constexpr bool fits() const { return columns > 0; }
};

// The sizes on which tiles depend. `planes`: the number of planes that are resized at once.
struct FilterWork {
  FilterExtent first, second;
  FilterSizes sizes;
  std::int64_t planes;
  int multiprocessors;
};

// Sets the members that follow from the number of columns, rows and quads. Returns a tiling that does not fit
// if the tile takes more than `max_bytes`.
[[nodiscard]] inline FilterTiling sized_tiling(const FilterWork& work, FilterTiling tiling,
                                               std::int64_t max_bytes) {
  const auto [taps, unit_bytes, weight_bytes] = work.sizes;
  const std::int64_t pitch = work.first.span(tiling.columns);
  const std::int64_t middle_quads = (work.second.span(tiling.rows) / kFilterLines + 1) / 2 * 2;
  const std::int64_t first_steps = work.first.steps(taps);
  const std::int64_t second_steps = work.second.steps(taps);
  std::int64_t bytes = 0;
  const auto next = [&](std::int64_t count, int bytes_each) {
    const std::int64_t at = bytes;
    bytes += count * bytes_each;
    return static_cast<int>(std::min(at, max_bytes));
  };
  next(tiling.quads * pitch / taps, unit_bytes);
  tiling.middle_at = next(middle_quads * tiling.columns / taps, unit_bytes);
  tiling.first_weights_at = next(first_steps * tiling.columns, weight_bytes);
  tiling.second_weights_at = next(second_steps * tiling.rows, weight_bytes);
  tiling.starts_at = next(tiling.columns + tiling.rows, sizeof(std::int32_t));
  if (bytes > max_bytes) return {};
  tiling.bytes = static_cast<int>(bytes);
  tiling.pitch = static_cast<int>(pitch);
  tiling.middle_quads = static_cast<int>(middle_quads);
  tiling.first_steps = static_cast<int>(first_steps);
  tiling.second_steps = static_cast<int>(second_steps);
  return tiling;
}

// Estimates the time of all tiles, by counting instructions in units of those that stage a sample.
[[nodiscard]] inline double tiling_cost(const FilterWork& work, const FilterTiling& tiling) {
  constexpr double kStep = 4;
  constexpr int kWarps = kFilterThreads / kFilterColumnGroup;
  // Fewer blocks leave a multiprocessor idle while they wait for memory.
  constexpr std::int64_t kBusyBlocks = 3;
  const int items = tiling.quads / 2 << tiling.group_bits;  // of the first pass, for a warp each
  const double idle = std::max(1.0, static_cast<double>(kWarps) / items);
  const double line = tiling.pitch + kStep * idle * tiling.columns * tiling.first_steps;
  const double tile =
      tiling.middle_quads * kFilterLines * line + kStep * tiling.rows * tiling.columns * tiling.second_steps;
  const std::int64_t tiles = ((work.first.made + tiling.columns - 1) / tiling.columns) *
                             ((work.second.made + tiling.rows - 1) / tiling.rows);
  const std::int64_t blocks = (tiles * work.planes + work.multiprocessors - 1) / work.multiprocessors;
  return tile * static_cast<double>(std::max(blocks, kBusyBlocks));
}

// Returns the tiles of the least cost that fit into `max_bytes` of shared memory.
[[nodiscard]] inline FilterTiling filter_tiling(const FilterWork& work, std::int64_t max_bytes) {
  // Steps may go beyond the last sample; their positions must not overflow.
  constexpr std::int64_t kMaxIn = kMaxSide - (std::int64_t{1} << 20);
  if (work.first.in > kMaxIn || work.second.in > kMaxIn) return {};
  FilterTiling best;
  for (int group_bits = 2; group_bits >= 0; --group_bits) {
    for (int rows = 64; rows >= 1; rows /= 2) {
      for (int quads = 16; quads >= 2; quads /= 2) {
        const FilterTiling tiling = sized_tiling(work,
                                                 {.group_bits = group_bits,
                                                  .columns = kFilterColumnGroup << group_bits,
                                                  .rows = rows,
                                                  .quads = quads},
                                                 max_bytes);
        if (!tiling.fits()) continue;
        if (!best.fits() || tiling_cost(work, tiling) < tiling_cost(work, best)) best = tiling;
      }
    }
  }
  return best;
}

}  // namespace imgpipe
