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
constexpr std::int64_t kFilterSharedBytes = 48 * 1024;  // any block may have as many

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

  // Returns the taps that kernels multiply: all weights, from a multiple of a step on.
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
  int columns = 0, rows = 0;  // no columns: the windows are too large for shared memory
  int group_bits = 0;         // columns = kFilterColumnGroup << group_bits
  int quads = 0;              // that are staged at once; even
  int pitch = 0;              // input samples of a staged line; a multiple of four
  int first_steps = 0, second_steps = 0;
  // Offsets in shared memory, in bytes; the staged units come first.
  int middle_at = 0, first_weights_at = 0, second_weights_at = 0, starts_at = 0;
  int bytes = 0;
};

// Returns the tiles that take the least time, estimated by counting instructions, of those that fit into
// `max_bytes` of shared memory. `images`: planes of this size that are resized at once.
[[nodiscard]] inline FilterTiling filter_tiling(const FilterExtent& first, const FilterExtent& second,
                                                const FilterSizes& sizes, std::int64_t images,
                                                int multiprocessors, std::int64_t max_bytes) {
  constexpr std::int64_t kWarps = kFilterThreads / kFilterColumnGroup;
  constexpr std::int64_t kStepCost = 4;  // in instructions of staging a sample
  // Fewer blocks leave a multiprocessor idle while they wait for memory.
  constexpr std::int64_t kBusyBlocks = 3;
  // Steps may go beyond the last sample; their positions must not overflow.
  constexpr std::int64_t kMaxIn = kMaxSide - (std::int64_t{1} << 20);
  if (first.in > kMaxIn || second.in > kMaxIn) return {};
  FilterTiling best;
  double least = 0;
  for (int group_bits = 2; group_bits >= 0; --group_bits) {
    const int columns = kFilterColumnGroup << group_bits;
    for (int rows = 64; rows >= 1; rows /= 2) {
      for (int quads = 16; quads >= 2; quads /= 2) {
        const std::int64_t pitch = first.span(columns);
        const std::int64_t middle_quads = (second.span(rows) / kFilterLines + 1) / 2 * 2;
        const std::int64_t middle_at = quads * pitch / sizes.taps * sizes.unit_bytes;
        const std::int64_t first_weights_at =
            middle_at + middle_quads * kFilterLines / sizes.taps * columns / kFilterLines * sizes.unit_bytes;
        const std::int64_t second_weights_at =
            first_weights_at + first.steps(sizes.taps) * columns * sizes.weight_bytes;
        const std::int64_t starts_at =
            second_weights_at + second.steps(sizes.taps) * rows * sizes.weight_bytes;
        const std::int64_t bytes =
            starts_at + (columns + rows) * static_cast<std::int64_t>(sizeof(std::int32_t));
        if (bytes > max_bytes) continue;
        const std::int64_t tiles = ((first.made + columns - 1) / columns) * ((second.made + rows - 1) / rows);
        const std::int64_t items = quads / 2 << group_bits;
        const double busy = static_cast<double>(std::min(items, kWarps)) / kWarps;
        const double tile_cost =
            static_cast<double>(middle_quads * kFilterLines) *
                (static_cast<double>(pitch) +
                 static_cast<double>(columns * first.steps(sizes.taps) * kStepCost) / busy) +
            static_cast<double>(rows * columns * second.steps(sizes.taps) * kStepCost);
        const std::int64_t blocks = (tiles * images + multiprocessors - 1) / multiprocessors;
        const double cost = tile_cost * static_cast<double>(std::max(blocks, kBusyBlocks));
        if (best.columns > 0 && cost >= least) continue;
        least = cost;
        best = {columns,
                rows,
                group_bits,
                quads,
                static_cast<int>(pitch),
                static_cast<int>(first.steps(sizes.taps)),
                static_cast<int>(second.steps(sizes.taps)),
                static_cast<int>(middle_at),
                static_cast<int>(first_weights_at),
                static_cast<int>(second_weights_at),
                static_cast<int>(starts_at),
                static_cast<int>(bytes)};
      }
    }
  }
  return best;
}

}  // namespace imgpipe
