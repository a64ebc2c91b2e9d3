// The sources of the pixels of a resized row or column (docs/pixels.md). The axes are independent.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/pixel.h"
#include "kernels/shared/float_sample.h"

namespace imgpipe {

// n input pixels become m output pixels; both are at least 1.
struct ResizeAxis {
  std::int64_t in = 1, out = 1;
};

// ---- nearest ----------------------------------------------------------------------------------------

// Returns the distance between the centres of adjacent output pixels, in input pixels.
[[nodiscard]] inline double nearest_step(const ResizeAxis& axis) {
  return static_cast<double>(axis.in) / static_cast<double>(axis.out);
}

// Returns the input pixel that contains a centre. Rounding errors of the summed steps may put the centre
// beyond the last pixel.
[[nodiscard]] inline std::int64_t nearest_source(const ResizeAxis& axis, double centre) {
  const auto source = static_cast<std::int64_t>(centre);
  return source < axis.in ? source : axis.in - 1;
}

// ---- linear -----------------------------------------------------------------------------------------

// Weights are multiples of 2^-8, or of 2^-16 for 16-bit samples, as in OpenCV.
template <class T>
inline constexpr int kLinearBits = 8 * static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kLinearOne = 1 << kLinearBits<T>;

// The weights are kLinearOne - share of pixel `source` and `share` of the next one, which exists if share >
// 0. For floats, `share` holds the bits of a float below 1.
struct LinearSource {
  std::int64_t source = 0;
  int share = 0;  // 0..kLinearOne - 1
};

// Holds the sum of four pixels, each weighted along both axes, plus half a unit.
template <class T>
using LinearSum = std::conditional_t<kIsWide<T>, std::uint64_t, std::uint32_t>;

// Rounds half to even; 0 <= value.
[[nodiscard]] inline int half_to_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  const int whole = static_cast<int>(below);
  return rest > 0.5 || (rest == 0.5 && whole % 2 == 1) ? whole + 1 : whole;
}

// The weight of the next pixel at a distance of 0..1 after a pixel's centre, and the representation of 1.
struct LinearShare {
  int share, one;
};
[[nodiscard]] inline LinearShare linear_share(double after, Sample sample) {
  switch (sample) {
    case Sample::u8:
      return {half_to_even(after * kLinearOne<Sample8>), kLinearOne<Sample8>};
    case Sample::u16:
      return {half_to_even(after * kLinearOne<Sample16>), kLinearOne<Sample16>};
    case Sample::f32:
      return {static_cast<int>(float_bits(static_cast<float>(after))), static_cast<int>(float_bits(1.0F))};
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}

// Returns the sources of pixel x of the output. Computed in doubles as in OpenCV, each operation rounded
// separately: contracting the product with the subtraction after it would change weights that are rounded
// from a half.
[[nodiscard]] inline LinearSource linear_source(const ResizeAxis& axis, std::int64_t x, Sample sample) {
  const double enlargement = static_cast<double>(axis.out) / static_cast<double>(axis.in);
  const volatile double centre = 1.0 / enlargement * (static_cast<double>(x) + 0.5);
  const double position = centre - 0.5;
  const double below = std::floor(position);
  if (below < 0 || axis.in == 1) return {0, 0};
  const auto source = static_cast<std::int64_t>(below);
  if (source >= axis.in - 1) return {axis.in - 1, 0};
  const auto [share, one] = linear_share(position - below, sample);
  return share == one ? LinearSource{source + 1, 0} : LinearSource{source, share};
}

// `sum`: four pixels, each weighted along both axes.
template <class T = Sample8>
IMGPIPE_HOST_DEVICE constexpr T linear_rounded(LinearSum<T> sum) {
  return static_cast<T>((sum + (LinearSum<T>{1} << (2 * kLinearBits<T> - 1))) >> (2 * kLinearBits<T>));
}

// ---- area -------------------------------------------------------------------------------------------

// Lengths in a unit that makes the edges of all pixels whole: an input pixel has out / gcd(in, out) units, an
// output pixel in / gcd(in, out).
struct AreaUnits {
  std::int64_t in_pixel = 1, out_pixel = 1;
};

[[nodiscard]] constexpr AreaUnits area_units(const ResizeAxis& axis) {
  std::int64_t a = axis.in;
  std::int64_t b = axis.out;
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return {axis.out / a, axis.in / a};
}

// Returns the length of the part of input pixel i that output pixel x covers, in units.
[[nodiscard]] constexpr std::int64_t area_covered(const AreaUnits& units, std::int64_t x, std::int64_t i) {
  const std::int64_t from =
      x * units.out_pixel > i * units.in_pixel ? x * units.out_pixel : i * units.in_pixel;
  const std::int64_t out_end = (x + 1) * units.out_pixel;
  const std::int64_t in_end = (i + 1) * units.in_pixel;
  return (out_end < in_end ? out_end : in_end) - from;
}

// The rounding of a mean. If `whole` (integer factors other than 2x2, as long as OpenCV's accumulators hold
// the sum), a product in floats is rounded half to even, as in OpenCV. All other means are exact and rounded
// half up; for 2x2, OpenCV does the same.
struct AreaMean {
  std::uint64_t units = 1;  // covered by an output pixel: the sum is at most white * units
  bool whole = false;
  float factor = 1;  // if whole: 1 / units
};

inline constexpr std::uint64_t kMaxWholeUnits = std::uint64_t{1} << 23;
// OpenCV sums 16-bit samples in floats, which are exact up to this number of samples.
inline constexpr std::uint64_t kMaxWholeUnits16 = std::uint64_t{1} << 8;

[[nodiscard]] constexpr AreaMean area_mean(const AreaUnits& across, const AreaUnits& down,
                                           Sample sample = Sample::u8) {
  const auto units =
      static_cast<std::uint64_t>(across.out_pixel) * static_cast<std::uint64_t>(down.out_pixel);
  const bool square_of_two = across.out_pixel == 2 && down.out_pixel == 2;
  const std::uint64_t max_units = is_wide(sample) ? kMaxWholeUnits16 : kMaxWholeUnits;
  const bool whole = across.in_pixel == 1 && down.in_pixel == 1 && !square_of_two && units <= max_units;
  return {units, whole, 1.0F / static_cast<float>(units)};
}

// Rounds half up. The type Sum must hold white * units + units / 2.
template <class T = Sample8, class Sum>
IMGPIPE_HOST_DEVICE constexpr T exact_mean(Sum sum, Sum units) {
  return static_cast<T>((sum + units / 2) / units);
}

// Rounds the float product sum * factor half to even, in integers. The fixed-point value keeps the product's
// whole fraction where it affects rounding (from 1/4 on).
template <class T = Sample8>
IMGPIPE_HOST_DEVICE constexpr T whole_mean(std::int32_t sum, float factor) {
  constexpr int kBits = 40;
  const float product = static_cast<float>(sum) * factor;
  const auto fine = static_cast<std::int64_t>(product * static_cast<float>(std::int64_t{1} << kBits));
  const std::int64_t odd = fine >> kBits & 1;
  return static_cast<T>((fine + (std::int64_t{1} << (kBits - 1)) - 1 + odd) >> kBits);
}

template <class T = Sample8, class Sum>
IMGPIPE_HOST_DEVICE constexpr T rounded_mean(Sum sum, const AreaMean& mean) {
  return mean.whole ? whole_mean<T>(static_cast<std::int32_t>(sum), mean.factor)
                    : exact_mean<T>(sum, static_cast<Sum>(mean.units));
}

static_assert(exact_mean(2, 4) == 1 && exact_mean(1, 4) == 0 && exact_mean(255 * 35, 35) == 255);
static_assert(exact_mean(17, 35) == 0 && exact_mean(18, 35) == 1);  // 17.5 is half of 35
static_assert(whole_mean(4, 0.125F) == 0 && whole_mean(12, 0.125F) == 2 && whole_mean(5, 0.125F) == 1);
static_assert(whole_mean(255 * 9, 1.0F / 9) == 255 && whole_mean(4, 1.0F / 9) == 0);
static_assert(area_units({6, 4}).in_pixel == 2 && area_units({6, 4}).out_pixel == 3);
static_assert(area_covered({2, 3}, 0, 0) == 2 && area_covered({2, 3}, 0, 1) == 1 &&
              area_covered({2, 3}, 1, 1) == 1);
static_assert(whole_mean<Sample16>(65535 * 256, 1.0F / 256) == 65535 &&
              linear_rounded<Sample16>(std::uint64_t{65535} << 32) == 65535);
static_assert(linear_rounded(255U << 16) == 255 && linear_rounded(32767) == 0 && linear_rounded(32768) == 1);

// ---- tables -----------------------------------------------------------------------------------------

// The result of resize_table() for an axis; entry i is for output pixel i. For `area`, `share` units of pixel
// `source` lie before output pixel i's first edge, and an additional entry is for the end.
struct AxisTable {
  const std::int32_t* source = nullptr;
  const std::int32_t* share = nullptr;  // nearest: 0
};

// Returns the entries of an array for `out` pixels, rounded up to a multiple of four, so that each array is
// aligned to 16 bytes if the first one is.
[[nodiscard]] constexpr std::int64_t axis_entries(std::int64_t out) {
  return (out + 1 + 3) / 4 * 4;
}

// The tables of both axes; in memory, `across` comes first.
struct ResizeTables {
  AxisTable across, down;
};

[[nodiscard]] inline ResizeTables resize_tables(const std::int32_t* from, std::int64_t out_width,
                                                std::int64_t out_height) {
  const std::int64_t width = axis_entries(out_width);
  const std::int64_t height = axis_entries(out_height);
  return {{from, from + width}, {from + 2 * width, from + 2 * width + height}};
}

}  // namespace imgpipe
