// Powers of floats, v^(1 / G), computed only by operations that all processors round identically; no
// library's pow() guarantees that (docs/pixels.md, for host and device).
#pragma once

#include <cstdint>

#include "kernels/parameter_values.h"
#include "kernels/shared/float_sample.h"

namespace imgpipe {

// The terms of two polynomials, minimax fits rounded to floats. The bounds are approximation errors, without
// those of evaluating in floats:
//   log2(m) = s (l0 + z (l1 + z (l2 + z l3))), s = (m - 1) / (m + 1), z = s^2, 1/2 < m^2 < 2: below 7e-10
//   2^r = 1 + r (e0 + r (e1 + ... + r e5)), |r| <= 1/2: below 2e-9
struct GammaTerms {
  float log[4], power[6];
};
IMGPIPE_HOST_DEVICE constexpr GammaTerms gamma_terms() {
  return {{0x1.715476p+1F, 0x1.EC70E6p-1F, 0x1.27470Ap-1F, 0x1.BA1C38p-2F},
          {0x1.62E430p-1F, 0x1.EBFBE0p-3F, 0x1.C6AED0p-5F, 0x1.3B29AAp-7F, 0x1.5F4774p-10F, 0x1.448FA4p-13F}};
}

inline constexpr float kMinNormal = 0x1p-126F;
inline constexpr float kToNormal = 0x1p24F;  // any denormal times this is normal, exactly
inline constexpr int kToNormalDoublings = 24;
inline constexpr std::uint32_t kRootOfHalfBits = 0x3F3504F3;
inline constexpr float kInfinity = __builtin_huge_valf();
// (v + kWholeRound) - kWholeRound rounds v to the nearest whole number, half to even, for |v| < 2^22.
inline constexpr float kWholeRound = 0x1.8p23F;
// Limits of n in 2^n, the product of two normal factors: the result is 0 below them, infinite above.
inline constexpr float kMinDoublings = -252, kMaxDoublings = 254;

// 1 / G, also as high + low; `high` has 12 bits, so that `high` times a whole number up to 2^12 is exact.
struct GammaExponent {
  float exponent, high, low;

  // gamma: G in millionths.
  [[nodiscard]] static GammaExponent of(std::int64_t gamma) {
    const double exponent = static_cast<double>(kDecimalOne) / static_cast<double>(gamma);
    const auto rounded = static_cast<float>(exponent);
    const float high = float_of_bits(float_bits(rounded) & 0xFFFFF000U);
    return {rounded, high, static_cast<float>(exponent - static_cast<double>(high))};
  }
};

IMGPIPE_HOST_DEVICE inline float power_of_two(int n) {
  return float_of_bits(static_cast<std::uint32_t>(n + 127) << 23);
}

// For v < 0, the result is the negative of the power of -v; zeros and infinities are unchanged.
struct FloatGamma {
  GammaExponent by;

  IMGPIPE_HOST_DEVICE float operator()(float v) const {
    const std::uint32_t sign = float_bits(v) & 0x80000000U;
    const float magnitude = float_of_bits(float_bits(v) ^ sign);
    if (magnitude == 0.0F || magnitude == kInfinity) return v;
    if (v != v) return canonical(v);
    return float_of_bits(float_bits(power(magnitude)) | sign);
  }

 private:
  IMGPIPE_HOST_DEVICE float power(float v) const {
    constexpr GammaTerms kTerms = gamma_terms();
    const auto& [l0, l1, l2, l3] = kTerms.log;
    const auto& [e0, e1, e2, e3, e4, e5] = kTerms.power;
    // v = m 2^k
    const bool is_small = v < kMinNormal;
    const std::uint32_t bits = float_bits(is_small ? v * kToNormal : v);
    const std::int32_t doublings = static_cast<std::int32_t>(bits - kRootOfHalfBits) >> 23;
    const float m = float_of_bits(bits - (static_cast<std::uint32_t>(doublings) << 23));
    const auto k = static_cast<float>(is_small ? doublings - kToNormalDoublings : doublings);
    const float s = (m - 1.0F) / (m + 1.0F);
    const float z = s * s;
    const float log = s * (l0 + z * (l1 + z * (l2 + z * l3)));
    // (k + log) / G = whole + r
    const float product = k * by.high;
    const float whole_product = (product + kWholeRound) - kWholeRound;
    const float rest = (product - whole_product) + (k * by.low + log * by.exponent);
    const float whole_rest = (rest + kWholeRound) - kWholeRound;
    const float r = rest - whole_rest;
    const float terms = e0 + r * (e1 + r * (e2 + r * (e3 + r * (e4 + r * e5))));
    float whole = whole_product + whole_rest;
    if (whole < kMinDoublings) whole = kMinDoublings;
    if (whole > kMaxDoublings) whole = kMaxDoublings;
    const auto n = static_cast<std::int32_t>(whole);
    return (1.0F + r * terms) * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
  }
};

}  // namespace imgpipe
