#include "kernels/shared/gauss_weights.h"

#include <cmath>

#include "kernels/shared/long_double.h"

namespace imgpipe {
namespace {

// exp(-x) for 0 <= x < 32, as the series of x / 64 squared six times. The relative error is below 1e-27.
LongDouble exp_negative(const LongDouble& x) {
  constexpr int kTerms = 24;  // 0.5^24 / 24! < 1e-30
  constexpr int kDoublings = 6;
  const LongDouble part = LongDouble{-1, 0} * x * LongDouble{1.0 / (1 << kDoublings), 0};
  LongDouble term{1, 0};
  LongDouble sum = term;
  for (int n = 1; n <= kTerms; ++n) {
    term = term * part / LongDouble{static_cast<double>(n), 0};
    sum = sum + term;
  }
  for (int i = 0; i < kDoublings; ++i) sum = sum * sum;
  return sum;
}

// exp(-i^2 / (2 sigma^2))
LongDouble bell(int i, std::int64_t sigma) {
  const LongDouble ratio = LongDouble{static_cast<double>(i * kDecimalOne), 0} /  // both below 2^53
                           LongDouble{static_cast<double>(sigma), 0};
  return exp_negative(ratio * ratio * LongDouble{0.5, 0});
}

// Rounds to the nearest integer. All sigmas of six decimals have 2.4e9 weights in total, so the closest to a
// half is probably about 1e-10 from it, too close for a double; the error here is below 1e-21.
std::uint32_t rounded(const LongDouble& value) {
  const double near = std::floor(value.high + 0.5);
  const double off = (value.high - near) + value.low;
  return static_cast<std::uint32_t>(near + (off >= 0.5 ? 1 : off < -0.5 ? -1 : 0));
}

}  // namespace

void gauss_weights(std::int64_t sigma, std::uint32_t* to) {
  const int radius = gauss_radius(sigma);
  LongDouble sum{1, 0};
  for (int i = 1; i <= radius; ++i) sum = sum + bell(i, sigma) * LongDouble{2, 0};
  std::uint32_t outside = 0;
  for (int i = 1; i <= radius; ++i) {
    to[i] = rounded(bell(i, sigma) * LongDouble{1U << kGaussBits, 0} / sum);
    outside += 2 * to[i];
  }
  to[0] = (1U << kGaussBits) - outside;
}

}  // namespace imgpipe
