// Integer arithmetic from a JPEG's coefficients to samples and pixels. Bit-identical to the x86 SIMD code of
// libjpeg-turbo 2.1.5 (jidctint-*, jdsample-*, jdcolext-*). Where a damaged file's coefficients leave their
// range, that code wraps and saturates 16 bits; libjpeg-turbo's C code (jidctint.c) does not.
#pragma once

#include <array>
#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/host_device.h"

namespace imgpipe {

IMGPIPE_HOST_DEVICE constexpr std::int16_t wrapped_16(std::int32_t v) {
  return static_cast<std::int16_t>(static_cast<std::uint32_t>(v) & 0xFFFF);
}

IMGPIPE_HOST_DEVICE constexpr std::int16_t saturated_16(std::int32_t v) {
  if (v < INT16_MIN) return INT16_MIN;
  return v > INT16_MAX ? INT16_MAX : static_cast<std::int16_t>(v);
}

IMGPIPE_HOST_DEVICE constexpr std::uint8_t saturated_8(std::int32_t v) {
  if (v < 0) return 0;
  return v > UINT8_MAX ? UINT8_MAX : static_cast<std::uint8_t>(v);
}

// ---- dequantisation (T.81, A.3.4) --------------------------------------------------------------------

IMGPIPE_HOST_DEVICE constexpr std::int16_t dequantised(std::int16_t coefficient, std::uint16_t step) {
  return wrapped_16(static_cast<std::int32_t>(coefficient) * step);
}

// ---- inverse DCT, "islow" (jidctint: Loeffler, Ligtenberg, Moschytz, 1989) -----------------------------

// Constants with 13 fractional bits, named by value.
namespace dct {
inline constexpr int k0_298631336 = 2446;
inline constexpr int k0_390180644 = 3196;
inline constexpr int k0_541196100 = 4433;
inline constexpr int k0_765366865 = 6270;
inline constexpr int k0_899976223 = 7373;
inline constexpr int k1_175875602 = 9633;
inline constexpr int k1_501321110 = 12299;
inline constexpr int k1_847759065 = 15137;
inline constexpr int k1_961570560 = 16069;
inline constexpr int k2_053119869 = 16819;
inline constexpr int k2_562915447 = 20995;
inline constexpr int k3_072711026 = 25172;
inline constexpr int kConstantBits = 13;
inline constexpr int kColumnBits = 2;  // fractional bits kept between the passes
inline constexpr int kColumnShift = kConstantBits - kColumnBits;
inline constexpr int kRowShift = kConstantBits + kColumnBits + 3;
}  // namespace dct

using Eight = std::array<std::int16_t, kBlockSide>;

// One pass over eight values: first a column (kShift is dct::kColumnShift), then a row of the results
// (dct::kRowShift). No sum overflows 32 bits, whatever the values.
template <int kShift>
IMGPIPE_HOST_DEVICE constexpr Eight inverse_dct_pass(const Eight& x) {
  using namespace dct;
  const std::int32_t round = 1 << (kShift - 1);
  const std::int32_t t0 = wrapped_16(x[0] + x[4]) * (1 << kConstantBits);
  const std::int32_t t1 = wrapped_16(x[0] - x[4]) * (1 << kConstantBits);
  const std::int32_t t2 = x[2] * k0_541196100 + x[6] * (k0_541196100 - k1_847759065);
  const std::int32_t t3 = x[2] * (k0_541196100 + k0_765366865) + x[6] * k0_541196100;
  const std::int32_t z3 = wrapped_16(x[7] + x[3]);
  const std::int32_t z4 = wrapped_16(x[5] + x[1]);
  const std::int32_t s3 = z3 * (k1_175875602 - k1_961570560) + z4 * k1_175875602;
  const std::int32_t s4 = z3 * k1_175875602 + z4 * (k1_175875602 - k0_390180644);
  const std::array<std::int32_t, 4> even{t0 + t3, t1 + t2, t1 - t2, t0 - t3};
  const std::array<std::int32_t, 4> odd{
      x[1] * (k1_501321110 - k0_899976223) - x[7] * k0_899976223 + s4,
      x[3] * (k3_072711026 - k2_562915447) - x[5] * k2_562915447 + s3,
      x[5] * (k2_053119869 - k2_562915447) - x[3] * k2_562915447 + s4,
      x[7] * (k0_298631336 - k0_899976223) - x[1] * k0_899976223 + s3,
  };
  Eight out{};
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = saturated_16((even[i] + odd[i] + round) >> kShift);
    out[7 - i] = saturated_16((even[i] - odd[i] + round) >> kShift);
  }
  return out;
}

// Returns the result of libjpeg-turbo's column pass if rows 1 to 7 hold no coefficients. It differs from that
// of inverse_dct_pass() only for values out of range.
IMGPIPE_HOST_DEVICE constexpr std::int16_t flat_column(std::int16_t x0) {
  return wrapped_16(x0 * (1 << dct::kColumnBits));
}

IMGPIPE_HOST_DEVICE constexpr std::uint8_t level_shifted(std::int16_t v) {
  return saturated_8(v + 128);
}

// Returns the value of every sample in a block with only a DC coefficient (dequantised).
IMGPIPE_HOST_DEVICE constexpr std::uint8_t constant_sample(std::int16_t dc) {
  const int half = 1 << (dct::kColumnBits + 2);
  return level_shifted(static_cast<std::int16_t>((flat_column(dc) + half) >> (dct::kColumnBits + 3)));
}

// Returns the samples of a block; both arrays are in row order. `flat_columns`: rows 1 to 7 held no
// coefficients before dequantisation (a product can wrap to 0).
IMGPIPE_HOST_DEVICE constexpr std::array<std::uint8_t, kBlockSamples> inverse_dct(
    const std::array<std::int16_t, kBlockSamples>& dequantised_block, bool flat_columns) {
  std::array<Eight, kBlockSide> columns{};
  for (std::size_t x = 0; x < kBlockSide; ++x) {
    for (std::size_t y = 0; y < kBlockSide; ++y) columns[x][y] = dequantised_block[y * kBlockSide + x];
    if (flat_columns) {
      const std::int16_t value = flat_column(columns[x][0]);
      for (std::int16_t& v : columns[x]) v = value;
    } else {
      columns[x] = inverse_dct_pass<dct::kColumnShift>(columns[x]);
    }
  }
  std::array<std::uint8_t, kBlockSamples> samples{};
  for (std::size_t y = 0; y < kBlockSide; ++y) {
    Eight row{};
    for (std::size_t x = 0; x < kBlockSide; ++x) row[x] = columns[x][y];
    row = inverse_dct_pass<dct::kRowShift>(row);
    for (std::size_t x = 0; x < kBlockSide; ++x) samples[y * kBlockSide + x] = level_shifted(row[x]);
  }
  return samples;
}

// ---- inverse DCT to 4x4, 2x2 or 1 sample (jidctred) -----------------------------------------------------

namespace dct {
inline constexpr int k0_211164243 = 1730;
inline constexpr int k0_509795579 = 4176;
inline constexpr int k0_601344887 = 4926;
inline constexpr int k0_720959822 = 5906;
inline constexpr int k0_850430095 = 6967;
inline constexpr int k1_061594337 = 8697;
inline constexpr int k1_272758580 = 10426;
inline constexpr int k1_451774981 = 11893;
inline constexpr int k2_172734803 = 17799;
inline constexpr int k3_624509785 = 29692;
}  // namespace dct

// Returns value * 2^shift and (a + b) / 2^shift, rounded half up. Both wrap at 32 bits.
constexpr std::int32_t raised(std::int32_t value, int shift) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << shift);
}
constexpr std::int32_t lowered_sum(std::int32_t a, std::int32_t b, int shift) {
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b) + half) >>
         shift;
}

// One pass over the values that at(0) to at(7) return, to kSide results, not saturated: kColumnShift or
// kRowShift as in inverse_dct_pass(). To 4 results, the fifth value does not count; to 2, only the first and
// those with odd indices do. All but at(0) have 16 bits.
template <int kSide, int kShift, class At>
constexpr std::array<std::int32_t, kSide> reduced_dct_pass(const At& at) {
  using namespace dct;
  if constexpr (kSide == 4) {
    constexpr int kDown = kShift + 1;
    const std::int32_t first = raised(at(0), kConstantBits + 1);
    const std::int32_t even = at(2) * k1_847759065 - at(6) * k0_765366865;
    const std::int32_t odd0 =
        at(1) * k2_562915447 + at(3) * k0_899976223 - at(5) * k0_601344887 - at(7) * k0_509795579;
    const std::int32_t odd1 =
        at(1) * k1_061594337 - at(3) * k2_172734803 + at(5) * k1_451774981 - at(7) * k0_211164243;
    const std::int32_t outer = first + even, inner = first - even;
    return {lowered_sum(outer, odd0, kDown), lowered_sum(inner, odd1, kDown),
            lowered_sum(inner, -odd1, kDown), lowered_sum(outer, -odd0, kDown)};
  } else {
    constexpr int kDown = kShift + 2;
    const std::int32_t first = raised(at(0), kConstantBits + 2);
    const std::int32_t odd =
        at(1) * k3_624509785 - at(3) * k1_272758580 + at(5) * k0_850430095 - at(7) * k0_720959822;
    return {lowered_sum(first, odd, kDown), lowered_sum(first, -odd, kDown)};
  }
}

// Writes kSide rows of kSide samples. Bit x of `busy`: column x has coefficients that count below its first
// row; `flat`: see inverse_dct(). To 2 samples, the first column's results are not saturated.
template <int kSide>
constexpr void reduced_dct(const std::array<std::int16_t, kBlockSamples>& dequantised_block, unsigned busy,
                           bool flat, std::uint8_t* samples, std::int64_t stride) {
  std::array<std::array<std::int32_t, kBlockSide>, kSide> rows{};
  for (std::size_t x = 0; x < kBlockSide; ++x) {
    const bool wide = kSide == 2 && x == 0;
    const std::int32_t top = dequantised_block[x];
    if ((busy >> x & 1U) == 0) {
      const std::int32_t value = top * (1 << dct::kColumnBits);
      for (auto& row : rows)
        row[x] = flat ? flat_column(dequantised_block[x]) : wide ? value : saturated_16(value);
      continue;
    }
    const auto column = reduced_dct_pass<kSide, dct::kColumnShift>(
        [&](std::size_t y) { return std::int32_t{dequantised_block[y * kBlockSide + x]}; });
    for (std::size_t y = 0; y < kSide; ++y) rows[y][x] = wide ? column[y] : saturated_16(column[y]);
  }
  for (std::size_t y = 0; y < kSide; ++y, samples += stride) {
    const auto row = reduced_dct_pass<kSide, dct::kRowShift>([&](std::size_t x) { return rows[y][x]; });
    for (std::size_t x = 0; x < kSide; ++x) samples[x] = level_shifted(saturated_16(row[x]));
  }
}

// Returns a block's only sample. libjpeg-turbo has no vectors for it, and does not wrap at 16 bits, but
// limits its range by a table of 1024 values.
constexpr std::uint8_t mean_sample(std::int16_t dc, std::uint16_t step) {
  const std::int32_t mean = (std::int32_t{dc} * static_cast<std::int16_t>(step) + 4) >> 3;
  const std::int32_t wrapped = ((mean + 512) & 1023) - 512;
  return saturated_8(wrapped + 128);
}

// ---- "fancy" upsampling (jdsample: triangle filter) ----------------------------------------------------

// A colour plane with half the columns is repeated, not interpolated, if it is at most this wide.
inline constexpr std::int64_t kMaxRepeatedWidth = 2;

// For planes with half the columns: the left and right pixel of sample `a`. At an edge, `a` is its own
// neighbour.
IMGPIPE_HOST_DEVICE constexpr int upsampled_left(int before, int a) {
  return (3 * a + before + 1) >> 2;
}
IMGPIPE_HOST_DEVICE constexpr int upsampled_right(int a, int after) {
  return (3 * a + after + 2) >> 2;
}

// For planes with half the rows: the upper and lower pixel of a sample, from it and the sample above or
// below.
IMGPIPE_HOST_DEVICE constexpr int upsampled_upper(int above, int a) {
  return (3 * a + above + 1) >> 2;
}
IMGPIPE_HOST_DEVICE constexpr int upsampled_lower(int a, int below) {
  return (3 * a + below + 2) >> 2;
}

// For planes with half the columns and rows: first the weighted sum of the nearer and the farther row, then
// the columns of these sums.
IMGPIPE_HOST_DEVICE constexpr int column_sum(int near, int far) {
  return 3 * near + far;
}
IMGPIPE_HOST_DEVICE constexpr int upsampled_left_of_sums(int before, int sum) {
  return (3 * sum + before + 8) >> 4;
}
IMGPIPE_HOST_DEVICE constexpr int upsampled_right_of_sums(int sum, int after) {
  return (3 * sum + after + 7) >> 4;
}

// ---- YCbCr to RGB (jdcolor) ---------------------------------------------------------------------------
// JFIF 1.02: R = Y + 1.402 Cr, G = Y - 0.344 Cb - 0.714 Cr, B = Y + 1.772 Cb.

IMGPIPE_HOST_DEVICE constexpr std::uint8_t red_of(int y, int cr) {
  return saturated_8(y + ((91881 * (cr - 128) + 32768) >> 16));
}
IMGPIPE_HOST_DEVICE constexpr std::uint8_t green_of(int y, int cb, int cr) {
  return saturated_8(y + ((-22554 * (cb - 128) - 46802 * (cr - 128) + 32768) >> 16));
}
IMGPIPE_HOST_DEVICE constexpr std::uint8_t blue_of(int y, int cb) {
  return saturated_8(y + ((116130 * (cb - 128) + 32768) >> 16));
}

}  // namespace imgpipe
