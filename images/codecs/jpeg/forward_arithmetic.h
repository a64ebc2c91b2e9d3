// Integer arithmetic from pixels to quantised coefficients, bit-identical to libjpeg-turbo's C and SIMD code
// (jccolor, jcsample, jfdctint, jcdctmgr). No value overflows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/host_device.h"

namespace imgpipe {

// ---- RGB to YCbCr (jccolor; JFIF 1.02), 16 fractional bits --------------------------------------------

IMGPIPE_HOST_DEVICE constexpr int luma_sample(int r, int g, int b) {
  return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
}
// Rounds halves down.
inline constexpr int kChromaRound = (128 << 16) + 32767;
IMGPIPE_HOST_DEVICE constexpr int blue_difference(int r, int g, int b) {
  return (-11059 * r - 21709 * g + 32768 * b + kChromaRound) >> 16;
}
IMGPIPE_HOST_DEVICE constexpr int red_difference(int r, int g, int b) {
  return (32768 * r - 27439 * g - 5329 * b + kChromaRound) >> 16;
}

// Halves the width and height of a plane (jcsample): returns a sample in column x from the sum of four.
IMGPIPE_HOST_DEVICE constexpr int halved_sample(int sum_of_four, std::int64_t x) {
  return (sum_of_four + 1 + static_cast<int>(x & 1)) >> 2;
}

// ---- forward DCT, "islow" (jfdctint: Loeffler, Ligtenberg, Moschytz, 1989) ------------------------------

inline constexpr int kSampleCenter = 128;

// One of two passes over eight values, in place: rows, then columns of the results. Together they yield 8
// times the DCT's coefficients; the row pass leaves dct::kColumnBits more fractional bits.
template <bool kRows>
IMGPIPE_HOST_DEVICE constexpr void forward_dct_pass(std::int32_t (&v)[kBlockSide]) {
  using namespace dct;
  constexpr int kShift = kRows ? kConstantBits - kColumnBits : kConstantBits + kColumnBits;
  constexpr std::int32_t kRound = 1 << (kShift - 1);
  const std::int32_t t0 = v[0] + v[7], t7 = v[0] - v[7], t1 = v[1] + v[6], t6 = v[1] - v[6];
  const std::int32_t t2 = v[2] + v[5], t5 = v[2] - v[5], t3 = v[3] + v[4], t4 = v[3] - v[4];
  const std::int32_t t10 = t0 + t3, t13 = t0 - t3, t11 = t1 + t2, t12 = t1 - t2;
  if (kRows) {
    v[0] = (t10 + t11) * (1 << kColumnBits);
    v[4] = (t10 - t11) * (1 << kColumnBits);
  } else {
    v[0] = (t10 + t11 + (1 << (kColumnBits - 1))) >> kColumnBits;
    v[4] = (t10 - t11 + (1 << (kColumnBits - 1))) >> kColumnBits;
  }
  const std::int32_t z1 = (t12 + t13) * k0_541196100 + kRound;
  v[2] = (t13 * k0_765366865 + z1) >> kShift;
  v[6] = (t12 * -k1_847759065 + z1) >> kShift;
  const std::int32_t z3 = t4 + t6, z4 = t5 + t7;
  const std::int32_t s3 = z3 * (k1_175875602 - k1_961570560) + z4 * k1_175875602 + kRound;
  const std::int32_t s4 = z3 * k1_175875602 + z4 * (k1_175875602 - k0_390180644) + kRound;
  v[7] = (t4 * (k0_298631336 - k0_899976223) + t7 * -k0_899976223 + s3) >> kShift;
  v[5] = (t5 * (k2_053119869 - k2_562915447) + t6 * -k2_562915447 + s4) >> kShift;
  v[3] = (t6 * (k3_072711026 - k2_562915447) + t5 * -k2_562915447 + s3) >> kShift;
  v[1] = (t7 * (k1_501321110 - k0_899976223) + t4 * -k0_899976223 + s4) >> kShift;
}

// Returns a block's DC coefficient, times 8 like all others, from the sum of its samples.
IMGPIPE_HOST_DEVICE constexpr std::int32_t dc_of_sum(std::int32_t samples) {
  return samples - kBlockSamples * kSampleCenter;
}

// ---- quantisation (jcdctmgr) ----------------------------------------------------------------------------

// Computes (|x| + d/2) / d, d = 8 * step, as a multiplication. m = ceil(2^32 / d) gives the exact quotient
// for numerators below 2^21, since m*d - 2^32 < d < 2^11. |x| is at most 2^13.
struct QuantizerStep {
  std::uint32_t multiplier = 0;
  std::uint32_t half = 0;
};

IMGPIPE_HOST_DEVICE constexpr QuantizerStep quantizer_step(int step) {
  const auto divisor = static_cast<std::uint32_t>(8 * step);
  const std::uint64_t multiplier = ((std::uint64_t{1} << 32) + divisor - 1) / divisor;
  return {static_cast<std::uint32_t>(multiplier), divisor / 2};
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t quantized_magnitude(std::int32_t x, QuantizerStep step) {
  const std::uint32_t numerator = static_cast<std::uint32_t>(x < 0 ? -x : x) + step.half;
  return static_cast<std::uint32_t>(std::uint64_t{numerator} * step.multiplier >> 32);
}

// A quantised coefficient as the bits that follow its code (T.81, F.1.2.1): negative values minus 1.
using CodedValue = std::int16_t;

IMGPIPE_HOST_DEVICE constexpr std::int32_t coded_value(std::int32_t x, std::uint32_t magnitude) {
  return static_cast<std::int32_t>(magnitude) ^ (x >> 31);
}
IMGPIPE_HOST_DEVICE constexpr std::int32_t value_of_coded(std::int32_t coded) {
  return coded - (coded >> 31);
}

}  // namespace imgpipe
