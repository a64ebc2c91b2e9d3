// Tests the gamma table for 16-bit samples. Results too close to a half for a double are decided with more
// digits. The cases come from a search over 3000 gammas and were checked with 60 digits.
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gamma/gamma.h"
#include "kernels/gamma/half.h"

namespace imgpipe::gamma_table_test {
namespace {

struct NearHalf {
  int v;
  std::int64_t gamma;  // millionths
  int below;           // the result, rounded down
  bool reaches;        // whether the result is at least below + 0.5
};

constexpr NearHalf kNearHalves[] = {
    {56978, 3457016, 62935, false},   // -1.3e-09
    {25118, 21487932, 62674, true},   // 5.4e-09
    {10189, 4580253, 43650, true},    // 8.0e-09
    {45277, 2509970, 56557, true},    // 1.2e-08
    {13421, 1301161, 19372, true},    // 1.8e-08
    {6481, 3024177, 30493, false},    // -2.0e-08
    {23747, 2296658, 42122, true},    // 2.2e-08
    {35882, 549459, 21896, false},    // -3.1e-08
    {44986, 4499918, 60278, false},   // -3.6e-08
    {15570, 84867191, 64434, false},  // -3.9e-08
    {43988, 1234335, 47446, false},   // -4.1e-08
    {7099, 278636, 22, false},        // -4.5e-08
};

std::vector<Sample16> table_of(std::int64_t gamma) {
  const FrameType type{1, 1, 1, false, Layout::planar, Sample::u16};
  Parameters parameters;
  parameters.values[0] = gamma;
  std::vector<Sample16> table(static_cast<std::size_t>(type.bins()));
  EXPECT_EQ(gamma_table_bytes(type, parameters), 2 * std::ssize(table));
  gamma_table({.in = {type, {}},
               .parameters = parameters,
               .table = {reinterpret_cast<std::byte*>(table.data()), 2 * std::ssize(table)}},
              {});
  return table;
}

TEST(GammaTable, SixteenBitHalvesAreDecidedExactly) {
  for (const NearHalf& near : kNearHalves) {
    EXPECT_EQ(reaches_half(near.v, 65535, near.gamma, near.below), near.reaches) << near.v;
    EXPECT_EQ(table_of(near.gamma)[static_cast<std::size_t>(near.v)], near.below + (near.reaches ? 1 : 0))
        << near.v;
  }
}

// The decision agrees with the double wherever that is exact enough, so it holds beyond the cases above.
TEST(GammaTable, DecisionAgreesWithDoubles) {
  for (const std::int64_t gamma : {10'000, 361'439, 999'999, 1'000'001, 2'200'000, 57'022'160, 100'000'000}) {
    const double exponent = 1e6 / static_cast<double>(gamma);
    for (int v = 1; v < 65536; v += 97) {
      const double result = 65535 * std::pow(v / 65535.0, exponent);
      const int below = static_cast<int>(result);
      if (std::abs(result - below - 0.5) < 1e-6) continue;
      ASSERT_EQ(reaches_half(v, 65535, gamma, below), result - below > 0.5) << v << " gamma " << gamma;
    }
  }
}

TEST(GammaTable, RisesFromBlackToWhite) {
  for (const std::int64_t gamma : {10'000, 2'200'000, 100'000'000}) {
    const std::vector<Sample16> table = table_of(gamma);
    EXPECT_EQ(table.front(), 0);
    EXPECT_EQ(table.back(), 65535);
    for (std::size_t v = 1; v < table.size(); ++v) ASSERT_GE(table[v], table[v - 1]) << v;
  }
}

}  // namespace
}  // namespace imgpipe::gamma_table_test
