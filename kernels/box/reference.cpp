#include <algorithm>
#include <array>

#include "kernels/box/box.h"

namespace imgpipe {
namespace {

// Columns at a time: their sums lie on the stack.
constexpr std::int64_t kChunk = 256;
using ColumnSums = std::array<std::uint32_t, static_cast<std::size_t>(kChunk) + 2 * kMostBoxRadius>;

// The coordinate to read for `i`, or -1 for a pixel that does not count.
std::int64_t source_of(std::int64_t i, std::int64_t size, Border border) {
  if (border == Border::replicate) return replicated(i, size);
  if (border == Border::reflect) return reflected(i, size);
  return i >= 0 && i < size ? i : -1;
}

// The sum of the 2 radius + 1 pixels of a column around row y; 0 for a column that does not count.
template <class T>
std::uint32_t column_sum(const Plane<const T, Host>& in, std::int64_t x, std::int64_t y,
                         const BoxParameters& box) {
  const std::int64_t from_x = source_of(x, in.width, box.border);
  std::uint32_t sum = 0;
  for (std::int64_t row = y - box.radius; from_x >= 0 && row <= y + box.radius; ++row) {
    const std::int64_t from_y = source_of(row, in.height, box.border);
    if (from_y >= 0) sum += in.row(from_y)[from_x];
  }
  return sum;
}

// Pixels first..end-1 of row y.
template <class T>
void box_pixels(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t y, std::int64_t first,
                std::int64_t end, const BoxParameters& box) {
  ColumnSums columns{};
  for (std::int64_t x = first - box.radius; x < end + box.radius; ++x)
    columns[static_cast<std::size_t>(x - first + box.radius)] = column_sum(in, x, y, box);
  const auto side = static_cast<std::uint32_t>(2 * box.radius + 1);
  for (std::int64_t x = first; x < end; ++x) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < side; ++i) sum += columns[static_cast<std::size_t>(x - first) + i];
    const std::uint32_t pixels = box.border == Border::shrink
                                     ? counted(x, in.width, box.radius) * counted(y, in.height, box.radius)
                                     : side * side;
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
  box_planes<Sample>(call);
}

void box16_reference(const StageCall<Host>& call) {
  box_planes<Sample16>(call);
}

}  // namespace imgpipe
