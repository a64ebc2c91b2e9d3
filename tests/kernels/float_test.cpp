// Tests the arithmetic of single floats; tests/golden/float_oracle.py covers whole images.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/gamma/power.h"
#include "kernels/levels/levels.h"
#include "kernels/shared/convert.h"
#include "kernels/shared/float_environment.h"
#include "tests/support/hostile_floats.h"

namespace imgpipe::test::float_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(FloatDepth, IntegersRoundTrip) {
  for (int v = 0; v <= 255; ++v) {
    const auto sample = static_cast<Sample8>(v);
    ASSERT_EQ(converted<Sample8>(converted<float>(sample)), v);
  }
  for (int v = 0; v <= 65535; ++v) {
    const auto sample = static_cast<Sample16>(v);
    ASSERT_EQ(converted<Sample16>(converted<float>(sample)), v);
  }
}

TEST(FloatDepth, ClampsAndRoundsHalvesUp) {
  for (const float v : {-kInf, -1e30F, -0.0F, 0.0F, 1e-45F, kNan, -kNan, 0.499999F / 255})
    EXPECT_EQ(converted<Sample8>(v), 0) << v;
  for (const float v : {kInf, 1.0F, 1.0000001F, 3e38F, 254.5001F / 255})
    EXPECT_EQ(converted<Sample8>(v), 255) << v;
  // Neighbours whose products with 65535 are on either side of a half.
  EXPECT_EQ(converted<Sample16>(0x1.0000FEp-17F), 0);
  EXPECT_EQ(converted<Sample16>(0x1.0001p-17F), 1);
  EXPECT_EQ(converted<Sample8>(0.5F), 128);  // 127.5
}

// FloatEnvironment sets and restores flags, denormals and rounding; no result depends on the host process.
TEST(FloatEnvironment, IsSetAndRestored) {
  const HostileFloats hostile;
  volatile float least = 1e-45F;
  bool kept = false;
  {
    const FloatEnvironment environment;
    volatile const float twice = least + least;
    volatile const float third = 1.0F / (least * 0.0F + 3.0F);
    kept = std::bit_cast<std::uint32_t>(static_cast<float>(twice)) == 2 &&
           std::bit_cast<std::uint32_t>(static_cast<float>(third)) == 0x3EAAAAAB;
  }
  const bool is_set = hostile.is_set();
  EXPECT_TRUE(kept);
  EXPECT_TRUE(is_set);
}

std::uint32_t gamma_bits(float v, std::int64_t gamma) {
  return float_bits(FloatGamma{GammaExponent::of(gamma)}(v));
}

TEST(FloatGamma, ZerosInfinitiesSignsAndNan) {
  for (const std::int64_t gamma : {10'000, 454'545, 2'200'000, 100'000'000}) {
    for (const float v : {0.0F, -0.0F, kInf, -kInf, 1.0F, -1.0F})
      EXPECT_EQ(gamma_bits(v, gamma), float_bits(v)) << v << " " << gamma;
    for (const std::uint32_t nan : {0x7FC00000U, 0xFFC00000U, 0x7F800001U, 0xFFFFFFFFU})
      EXPECT_EQ(gamma_bits(float_of_bits(nan), gamma), kNanBits);
    for (const float v : {0.3F, 1e-42F, 3e38F})
      EXPECT_EQ(gamma_bits(-v, gamma), gamma_bits(v, gamma) | 0x80000000U);
  }
  EXPECT_EQ(gamma_bits(1e-40F, 10'000), 0U);               // (1e-40)^100
  EXPECT_EQ(gamma_bits(1e38F, 10'000), float_bits(kInf));  // (1e38)^100
}

// Returns the maximum error against pow() in double precision, in units in the last place of the result.
double max_off(std::int64_t gamma) {
  const FloatGamma power{GammaExponent::of(gamma)};
  double most = 0;
  for (std::uint32_t bits = 1; bits < 0x7F800000U; bits += 9973) {
    const float v = float_of_bits(bits);
    const double exact = std::pow(static_cast<double>(v), 1e6 / static_cast<double>(gamma));
    if (exact > 3.4e38 || exact < 1e-45) continue;
    int exponent = 0;
    std::frexp(exact, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
    most = std::max(most, std::abs(static_cast<double>(power(v)) - exact) / unit);
  }
  return most;
}

TEST(FloatGamma, IsCloseToThePower) {
  EXPECT_LT(max_off(2'200'000), 2.0);
  EXPECT_LT(max_off(454'545), 4.0);
  EXPECT_LT(max_off(100'000'000), 2.0);
  EXPECT_LT(max_off(10'000), 80.0);  // the 100th power
}

TEST(FloatLevels, ClampsToItsRange) {
  const auto levels = [](double lo, double hi, LevelsOf of) {
    return FloatLevels::of(
        {{std::bit_cast<std::int64_t>(lo), std::bit_cast<std::int64_t>(hi), static_cast<std::int64_t>(of)}});
  };
  EXPECT_EQ(levels(0, 1, LevelsOf::same)(0.25F), 0.25F);
  EXPECT_EQ(levels(0, 1, LevelsOf::same)(-0.25F), 0.0F);
  EXPECT_EQ(levels(0, 1, LevelsOf::same)(kInf), 1.0F);
  EXPECT_EQ(levels(51, 204, LevelsOf::u8)(0.5F), 0.5F);
  EXPECT_EQ(levels(1, 3, LevelsOf::same)(2.5F), 0.75F);
  EXPECT_EQ(levels(-0.5, 1.5, LevelsOf::same)(0.0F), 0.25F);
  EXPECT_EQ(float_bits(levels(0, 65535, LevelsOf::u16)(-kNan)), kNanBits);
}

}  // namespace
}  // namespace imgpipe::test::float_test
