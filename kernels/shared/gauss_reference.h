// The shared part of the references of gauss and sharpen, written for readability.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/shared/gauss_weights.h"

namespace imgpipe {

// The weights of a table, and their reach.
struct GaussWeights {
  const std::uint32_t* weights = nullptr;  // from the centre outwards
  int radius = 0;

  [[nodiscard]] std::uint32_t at(int distance) const { return weights[std::abs(distance)]; }
};

inline std::int64_t gauss_source(std::int64_t i, std::int64_t size, Border border) {
  return border == Border::reflect ? reflected(i, size) : replicated(i, size);
}

// Returns the weighted mean, of 16 bits, of a column's samples in rows y - radius to y + radius.
template <class T>
std::uint32_t gauss_column(const Plane<const T, Host>& in, std::int64_t x, const std::int64_t* rows,
                           const GaussWeights& gauss) {
  std::uint32_t sum = 0;
  for (int i = -gauss.radius; i <= gauss.radius; ++i) sum += gauss.at(i) * in.row(rows[gauss.radius + i])[x];
  return column_rounded<T>(sum);
}

// Blurs a plane in chunks of columns, without an intermediate row; passes each pixel to take(x, y, blurred).
template <class T, class Take>
void gauss_pixels(const Plane<const T, Host>& in, const GaussWeights& gauss, Border border,
                  const Take& take) {
  constexpr std::int64_t kChunk = 256;
  std::array<std::uint32_t, kChunk + 2 * kMaxGaussRadius> columns{};
  std::array<std::int64_t, kMaxGaussTaps> rows{};
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (int i = -gauss.radius; i <= gauss.radius; ++i)
      rows[static_cast<std::size_t>(gauss.radius + i)] = gauss_source(y + i, in.height, border);
    for (std::int64_t first = 0; first < in.width; first += kChunk) {
      const std::int64_t end = std::min(in.width, first + kChunk);
      for (std::int64_t x = first - gauss.radius; x < end + gauss.radius; ++x) {
        columns[static_cast<std::size_t>(x - first + gauss.radius)] =
            gauss_column(in, gauss_source(x, in.width, border), rows.data(), gauss);
      }
      for (std::int64_t x = first; x < end; ++x) {
        std::uint32_t sum = 0;
        for (int i = -gauss.radius; i <= gauss.radius; ++i)
          sum += gauss.at(i) * columns[static_cast<std::size_t>(x - first + gauss.radius + i)];
        take(x, y, row_rounded<T>(sum));
      }
    }
  }
}

}  // namespace imgpipe
