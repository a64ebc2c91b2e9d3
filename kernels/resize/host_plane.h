// Code for resizing on the host that all sample types share.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/resize/resize.h"
#include "kernels/shared/window.h"

namespace imgpipe {

// A plane of a call; row numbers refer to the whole image.
template <class T>
struct ResizePlane {
  Plane<const T, Host> in;
  Plane<T, Host> out;
  const Band& band;
  ResizeTables tables;
  AreaUnits across, down;

  [[nodiscard]] const T* from(std::int64_t y) const { return in.row(y - band.in_top); }
  [[nodiscard]] T* to(std::int64_t y) const { return out.row(y - band.out_top); }
};

// Selects the pixels of a row, which have `Step` samples.
template <int Step, class T>
void select_pixels(const T* from, const std::int32_t* columns, std::int64_t width, T* to) {
#pragma GCC unroll 8
  for (std::int64_t x = 0; x < width; ++x)
    std::memcpy(to + Step * x, from + Step * std::int64_t{columns[x]}, Step * sizeof(T));
}

// Accepts planes and interleaved RGB.
template <class T>
void nearest_plane(const ResizePlane<T>& plane) {
  const std::int32_t* const columns = plane.tables.across.source;  // stores of bytes may alias members
  const std::int64_t width = plane.out.width;
  std::int64_t above = -1;  // the source row of the previous row
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    const std::int64_t source = plane.tables.down.source[y];
    const T* from = plane.from(source);
    T* to = plane.to(y);
    if (source == above) {
      std::copy_n(plane.to(y - 1), plane.out.row_samples(), to);
    } else {
      plane.in.channels == kMaxStep ? select_pixels<kMaxStep>(from, columns, width, to)
                                    : select_pixels<1>(from, columns, width, to);
    }
    above = source;
  }
}

// Computes pixels from the column sums of their rows; a pixel may extend over several chunks of columns.
template <class T>
class ColumnSummer {
 public:
  explicit ColumnSummer(const ResizePlane<T>& plane)
      : table_(plane.tables.across),
        unit_(static_cast<std::uint64_t>(plane.across.in_pixel)),
        mean_(area_mean(plane.across, plane.down, sample_type_of<T>)),
        exact_factor_(1.0 / static_cast<double>(mean_.units)) {}

  void start_row() {
    x_ = 0;
    sum_ = 0;
  }

  // sums[i] is the sum of column first + i, for columns below `end`. Writes all pixels that end before it.
  void add(const std::uint32_t* sums, std::int64_t first, std::int64_t end, std::int64_t width, T* to) {
    while (x_ < width) {
      const std::int64_t from = table_.source[x_];
      const std::int64_t last = table_.source[x_ + 1];  // the column that contains the right edge
      const auto before = static_cast<std::uint64_t>(table_.share[x_]);
      const auto after = static_cast<std::uint64_t>(table_.share[x_ + 1]);
      if (from == last) {
        if (from >= end) return;
        sum_ = (after - before) * sums[from - first];
      } else {
        if (from >= first && from < end) sum_ = (unit_ - before) * sums[from - first];
        sum_ += unit_ * total(sums, std::max(from + 1, first) - first, std::min(last, end) - first);
        if (last > end || (last == end && after > 0)) return;
        if (after > 0) sum_ += after * sums[last - first];
      }
      to[x_++] = rounded();
    }
  }

 private:
  static std::uint64_t total(const std::uint32_t* sums, std::int64_t first, std::int64_t end) {
    std::uint64_t sum = 0;
    for (std::int64_t i = first; i < end; ++i) sum += sums[i];
    return sum;
  }

  // Computes exact_mean() as a product of doubles, which hold the sum. (sum + units / 2 + 1/2) / units is at
  // least 1 / (2 units) away from integers, and the product's error is below 2^-43 (16 bits: 2^-35).
  [[nodiscard]] T rounded() const {
    if (mean_.whole) return whole_mean<T>(static_cast<std::int32_t>(sum_), mean_.factor);
    const std::uint64_t half = mean_.units / 2;
    return static_cast<T>((static_cast<double>(sum_ + half) + 0.5) * exact_factor_);
  }

  AxisTable table_;
  std::uint64_t unit_;
  AreaMean mean_;
  double exact_factor_;
  std::int64_t x_ = 0;     // the next pixel to write
  std::uint64_t sum_ = 0;  // its sum so far
};

// Returns true if column sums fit in 32 bits and ColumnSummer's doubles are exact. Let each input side be
// divided by its greatest common divisor with the output's side. The result is false if the height is then
// 2^24 rows or more (16 bits: 2^16), or the area about 2^40 pixels (16 bits: 2^34).
template <class T>
constexpr bool fits_column_sums(const ResizePlane<T>& plane) {
  constexpr std::int64_t kMaxUnits = std::int64_t{1} << (kIsWide<T> ? 16 : 24);
  return plane.down.out_pixel < kMaxUnits &&
         plane.across.out_pixel < (std::int64_t{1} << (kIsWide<T> ? 34 : 40)) / plane.down.out_pixel;
}

// Slow, but handles any size whose sums fit in 64 bits.
template <class T>
void huge_area_plane(const ResizePlane<T>& plane) {
  const AreaMean mean = area_mean(plane.across, plane.down, sample_type_of<T>);
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    for (std::int64_t x = 0; x < plane.out.width; ++x) {
      std::uint64_t sum = 0;
      for (std::int64_t j = plane.tables.down.source[y];
           j * plane.down.in_pixel < (y + 1) * plane.down.out_pixel; ++j) {
        for (std::int64_t i = plane.tables.across.source[x];
             i * plane.across.in_pixel < (x + 1) * plane.across.out_pixel; ++i) {
          sum += static_cast<std::uint64_t>(plane.from(j)[i] * area_covered(plane.across, x, i) *
                                            area_covered(plane.down, y, j));
        }
      }
      plane.to(y)[x] = rounded_mean<T>(sum, mean);
    }
  }
}

}  // namespace imgpipe
