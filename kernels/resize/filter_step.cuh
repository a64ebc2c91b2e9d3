// The arithmetic of Pillow's filters on a CUDA device: four weighted sums at once, one for each line of a
// unit.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/resize/filter_alpha.h"
#include "kernels/resize/filter_axis.h"
#include "kernels/resize/filter_tiling.h"
#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/shared_tile.cuh"

namespace imgpipe {

// A pass on a device: the output samples `begin` .. `begin` + `out` - 1 of an axis.
template <class Weight>
struct FilterPass {
  FilterTable<Weight> table;
  std::int32_t begin = 0, out = 0;

  // An axis that does not change has no table: its outputs have one tap, of weight 1.
  __device__ int first(int i) const { return table.window == 0 ? begin + i : __ldg(table.first + begin + i); }
  __device__ int count(int i) const { return table.window == 0 ? 1 : __ldg(table.count + begin + i); }
  // Returns 0 for all other taps.
  __device__ Weight weight(int i, int tap) const {
    constexpr Weight kOne = sizeof(Weight) == sizeof(double) ? Weight{1} : Weight{1 << kFilterBits};
    if (table.window == 0) return tap == 0 ? kOne : Weight{};
    if (tap < 0 || tap >= table.window) return Weight{};
    return __ldg(table.weights + (begin + i) * table.window + tap);
  }
};

// A weighted sum of samples, rounded at the end.
template <class T>
struct FilterSum;

template <>
struct FilterSum<Sample8> {
  std::int32_t value = 1 << (kFilterBits - 1);

  __device__ static std::int32_t product(std::uint32_t sample, std::int32_t weight) {
    return static_cast<std::int32_t>(sample) * weight;
  }
  __device__ void add(std::int32_t product) { value += product; }
  __device__ Sample8 sample() const {
    return static_cast<Sample8>(min(max(value >> kFilterBits, 0), kMaxSample));
  }
};

// Each operation is rounded: the order of the products matters.
template <>
struct FilterSum<Sample16> {
  double value = 0;

  __device__ static double product(std::uint32_t sample, double weight) {
    // The bits of 2^52 + sample: faster than a conversion.
    return __dmul_rn(__dadd_rn(__hiloint2double(0x43300000, static_cast<int>(sample)), -0x1p52), weight);
  }
  __device__ void add(double product) { value = __dadd_rn(value, product); }
  __device__ Sample16 sample() const {
    constexpr std::uint32_t kWhite = kLargest<Sample16>;
    return static_cast<Sample16>(value >= kWhite ? kWhite
                                 : value <= 0    ? 0U
                                                 : static_cast<std::uint32_t>(__dadd_rn(value, 0.5)));
  }
};

template <class T>
struct FilterStep;

// Four taps, whose weights are below 2^23: bytes 0 and 1 of the weights are unsigned, byte 2 is signed. The
// products of each byte are summed by dp4a, and the three sums added at the end, modulo 2^32.
template <>
struct FilterStep<Sample8> {
  static constexpr int kTaps = 4;
  using Unit = uint4;  // a word per line
  struct Weights {
    std::uint32_t low = 0, middle = 0, high = 0;
  };
  struct Sum {
    std::uint32_t low = 1U << (kFilterBits - 1), middle = 0;
    std::int32_t high = 0;

    __device__ void add(std::uint32_t samples, const Weights& weights) {
      low = __dp4a(samples, weights.low, low);
      middle = __dp4a(samples, weights.middle, middle);
      asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(high) : "r"(samples), "r"(weights.high));
    }
    __device__ std::int32_t value() const {
      const std::uint32_t sum = low + (middle << 8) + (static_cast<std::uint32_t>(high) << 16);
      return static_cast<std::int32_t>(sum) >> kFilterBits;
    }
  };

  // Returns the weights of taps tap .. tap + 3.
  __device__ static Weights weights(const FilterPass<std::int32_t>& pass, int i, int tap) {
    Weights all;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
      const auto weight = static_cast<std::uint32_t>(pass.weight(i, tap + k));
      all.low |= (weight & 0xFF) << (8 * k);
      all.middle |= (weight >> 8 & 0xFF) << (8 * k);
      all.high |= (weight >> 16 & 0xFF) << (8 * k);
    }
    return all;
  }
  __device__ static void add(Sum (&sums)[kFilterLines], Unit unit, const Weights& weights) {
    sums[0].add(unit.x, weights);
    sums[1].add(unit.y, weights);
    sums[2].add(unit.z, weights);
    sums[3].add(unit.w, weights);
  }
  __device__ static FourSamples<Sample8> samples(const Sum (&sums)[kFilterLines]) {
    std::uint32_t high;
    FourSamples<Sample8> four;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(sums[3].value()), "r"(sums[2].value()));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(four.word[0])
        : "r"(sums[1].value()), "r"(sums[0].value()), "r"(high));
    return four;
  }

  // Stores four rows of four samples as a unit, whose lines are the rows or the columns.
  __device__ static void stage(const FourSamples<Sample8> (&rows)[4], bool columns, Unit* to) {
    const std::uint32_t a = rows[0].word[0];
    const std::uint32_t b = rows[1].word[0];
    const std::uint32_t c = rows[2].word[0];
    const std::uint32_t d = rows[3].word[0];
    if (!columns) {
      *to = make_uint4(a, b, c, d);
      return;
    }
    const std::uint32_t left_upper = __byte_perm(a, b, 0x5140);  // a0 b0 a1 b1
    const std::uint32_t left_lower = __byte_perm(c, d, 0x5140);
    const std::uint32_t right_upper = __byte_perm(a, b, 0x7362);
    const std::uint32_t right_lower = __byte_perm(c, d, 0x7362);
    *to = make_uint4(pack_low(left_upper, left_lower), pack_high(left_upper, left_lower),
                     pack_low(right_upper, right_lower), pack_high(right_upper, right_lower));
  }
  // Stores a column's samples of a quad of lines: these are the taps of the second pass.
  __device__ static void put(const FourSamples<Sample8>& lines, Unit* middle, int quad, int column,
                             int columns) {
    reinterpret_cast<std::uint32_t*>(middle)[quad * columns + column] = lines.word[0];
  }
};

// One tap.
template <>
struct FilterStep<Sample16> {
  static constexpr int kTaps = 1;
  using Unit = FourSamples<Sample16>;
  using Weights = double;
  using Sum = FilterSum<Sample16>;

  __device__ static double weights(const FilterPass<double>& pass, int i, int tap) {
    return pass.weight(i, tap);
  }
  __device__ static void add(Sum (&sums)[kFilterLines], Unit unit, double weight) {
#pragma unroll
    for (int k = 0; k < kFilterLines; ++k) sums[k].add(Sum::product(wide_of(unit.word, k), weight));
  }
  __device__ static FourSamples<Sample16> samples(const Sum (&sums)[kFilterLines]) {
    return {{pack_low(sums[0].sample(), sums[1].sample()), pack_low(sums[2].sample(), sums[3].sample())}};
  }

  // Stores four rows of four samples as four units: a unit has a sample of each line.
  __device__ static void stage(const FourSamples<Sample16> (&rows)[4], bool columns, Unit* to) {
    if (columns) {
#pragma unroll
      for (int k = 0; k < kFilterLines; ++k) to[k] = rows[k];
      return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      to[2 * half] = {{pack_low(rows[0].word[half], rows[1].word[half]),
                       pack_low(rows[2].word[half], rows[3].word[half])}};
      to[2 * half + 1] = {{pack_high(rows[0].word[half], rows[1].word[half]),
                           pack_high(rows[2].word[half], rows[3].word[half])}};
    }
  }
  __device__ static void put(const FourSamples<Sample16>& lines, Unit* middle, int quad, int column,
                             int columns) {
    auto* to = reinterpret_cast<Sample16*>(middle) + quad * kFilterLines * columns + column;
#pragma unroll
    for (int k = 0; k < kFilterLines; ++k) to[k * columns] = static_cast<Sample16>(wide_of(lines.word, k));
  }
};

__device__ __forceinline__ FourSamples<Sample8> load_four(const Sample8* from) {
  return {{__ldg(reinterpret_cast<const std::uint32_t*>(from))}};
}
__device__ __forceinline__ FourSamples<Sample16> load_four(const Sample16* from) {
  const uint2 both = __ldg(reinterpret_cast<const uint2*>(from));
  return {{both.x, both.y}};
}

// Return four colours multiplied by alpha; only 8-bit colours are.
__device__ __forceinline__ FourSamples<Sample8> premultiplied(const FourSamples<Sample8>& colors,
                                                              const FourSamples<Sample8>& alpha) {
  FourSamples<Sample8> four{};
#pragma unroll
  for (int k = 0; k < 4; ++k)
    four.word[0] |= std::uint32_t{premultiplied(byte_of(colors.word, k), byte_of(alpha.word, k))} << (8 * k);
  return four;
}
__device__ __forceinline__ FourSamples<Sample16> premultiplied(const FourSamples<Sample16>& colors,
                                                               const FourSamples<Sample16>&) {
  return colors;
}

template <class T>
inline constexpr FilterSizes kFilterSizes{FilterStep<T>::kTaps,
                                          static_cast<int>(sizeof(typename FilterStep<T>::Unit)),
                                          static_cast<int>(sizeof(typename FilterStep<T>::Weights))};

}  // namespace imgpipe
