#include <algorithm>
#include <array>

#include "kernels/box/box.h"

namespace imgpipe {
namespace {

// Columns per chunk; their sums are on the stack.
constexpr std::int64_t kChunk = 256;
using ColumnSums =
    std::array<std::uint32_t, static_cast<std::size_t>(kChunk) + std::size_t{2} * kMaxBoxRadius>;

// The rows of a window that contribute to its mean.
struct Rows {
  std::array<std::int64_t, 2 * kMaxBoxRadius + 1> at{};
  std::size_t count = 0;

  Rows(std::int64_t y, std::int64_t height, const BoxParameters& box) {
    for (std::int64_t row = y - box.radius; row <= y + box.radius; ++row) {
      const std::int64_t from = source_of(row, height, box.border);
      if (from >= 0) at[count++] = from;
    }
  }
};

// Returns the sum of column x over `rows`, or 0 if the border mode ignores the column.
template <class T>
std::uint32_t column_sum(const Plane<const T, Host>& in, std::int64_t x, const Rows& rows, Border border) {
  const std::int64_t from_x = source_of(x, in.width, border);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; from_x >= 0 && i < rows.count; ++i) sum += in.row(rows.at[i])[from_x];
  return sum;
}

template <class T>
void box_pixels(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t y, std::int64_t first,
                std::int64_t end, const BoxParameters& box) {
  const Rows rows(y, in.height, box);
  ColumnSums columns{};
  for (std::int64_t x = first - box.radius; x < end + box.radius; ++x)
    columns[static_cast<std::size_t>(x - first + box.radius)] = column_sum(in, x, rows, box.border);
  const auto side = static_cast<std::uint32_t>(2 * box.radius + 1);
  for (std::int64_t x = first; x < end; ++x) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < side; ++i) sum += columns[static_cast<std::size_t>(x - first) + i];
    const std::uint32_t across = box.border == Border::shrink ? counted(x, in.width, box.radius) : side;
    const auto pixels = across * static_cast<std::uint32_t>(rows.count);
    out.row(y)[x] = static_cast<T>(box_mean(sum, pixels));
  }
}

template <class T>
void box_planes(const StageCall<Host>& call) {
  const BoxParameters box(call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; x += kChunk)
        box_pixels(in, out, y, x, std::min(in.width, x + kChunk), box);
    }
  }
}

}  // namespace

RowRange box_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, BoxParameters(parameters).radius, out);
}

void box_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { box_planes<T>(call); });
}

}  // namespace imgpipe
