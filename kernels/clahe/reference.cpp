#include <algorithm>
#include <vector>

#include "kernels/clahe/clahe.h"

namespace imgpipe {
namespace {

// Returns the table of the tile whose first pixel is x0, y0.
template <class T>
std::vector<T> table_of_tile(const Plane<const T, Host>& plane, const ClaheTiles& tiles, std::int64_t x0,
                             std::int64_t y0) {
  constexpr std::int64_t kValues = std::int64_t{kLargest<T>} + 1;
  std::vector<std::int64_t> counts(kValues);
  for (std::int64_t y = y0; y < y0 + tiles.height; ++y) {
    for (std::int64_t x = x0; x < x0 + tiles.width; ++x)
      ++counts[plane.row(reflected(y, plane.height))[reflected(x, plane.width)]];
  }
  if (tiles.limit > 0) {
    std::int64_t excess = 0;
    for (std::int64_t& count : counts) {
      excess += std::max<std::int64_t>(0, count - tiles.limit);
      count = std::min(count, tiles.limit);
    }
    for (std::int64_t& count : counts) count += excess / kValues;
    const std::int64_t left = excess % kValues;
    for (std::int64_t i = 0; i < left; ++i) ++counts[static_cast<std::size_t>(i * (kValues / left))];
  }
  std::vector<T> table;
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) {
    sum += count;
    table.push_back(static_cast<T>(equalized(static_cast<std::uint64_t>(sum), tiles.scale, kLargest<T>)));
  }
  return table;
}

template <class T>
void clahe_plane(const Plane<const T, Host>& in, const ClaheTiles& tiles, const Plane<T, Host>& out) {
  std::vector<std::vector<T>> tables;
  for (int row = 0; row < tiles.along_side; ++row) {
    for (int column = 0; column < tiles.along_side; ++column)
      tables.push_back(table_of_tile(in, tiles, column * tiles.width, row * tiles.height));
  }
  for (std::int64_t y = 0; y < in.height; ++y) {
    const auto [row, down] = cell_position(static_cast<int>(y), tiles.a_row);
    const auto* const upper = &tables[static_cast<std::size_t>(tile_before(row) * tiles.along_side)];
    const auto* const lower =
        &tables[static_cast<std::size_t>(tile_after(row, tiles.along_side) * tiles.along_side)];
    for (std::int64_t x = 0; x < in.width; ++x) {
      const auto [column, across] = cell_position(static_cast<int>(x), tiles.a_column);
      const int left = tile_before(column);
      const int right = tile_after(column, tiles.along_side);
      const T v = in.row(y)[x];
      const float above = clahe_mix(upper[left][v], upper[right][v], across);
      const float below = clahe_mix(lower[left][v], lower[right][v], across);
      out.row(y)[x] = static_cast<T>(clahe_rounded(clahe_mix(above, below, down), kLargest<T>));
    }
  }
}

template <class T>
void clahe_planes(const StageCall<Host>& call) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    clahe_plane<T>(call.in.plane<T>(i), tiles, call.out.plane<T>(i));
  }
}

}  // namespace

std::string_view clahe_infer(const FrameType& in, const Parameters& parameters, FrameType&) {
  const ClaheTiles tiles(in, parameters);
  return tiles.pixels() <= INT32_MAX ? "" : "a tile exceeds 2147483647 pixels; use more tiles";
}

std::int64_t clahe_table_bytes(const FrameType& in, const Parameters& parameters) {
  return std::int64_t{2} * in.color_channels * clahe_pairs(in, ClaheTiles(in, parameters)) *
         bytes_per_sample(in.sample);
}

std::int64_t clahe_scratch_bytes(const FrameType& in, const Parameters& parameters) {
  const std::int64_t counters = ClaheTiles(in, parameters).count() * in.bins();
  const std::int64_t pairs = clahe_table_bytes(in, parameters);
  if (is_wide(in.sample))
    return pairs / in.color_channels + counters * static_cast<std::int64_t>(sizeof(std::uint32_t));
  return pairs + in.color_channels * counters * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

void clahe_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { clahe_planes<T>(call); });
}

}  // namespace imgpipe
