// Decides on which side of a half a result of gamma lies, when a double is not precise enough.
#pragma once

#include <cstdint>

#include "kernels/parameter_values.h"
#include "kernels/shared/long_double.h"

namespace imgpipe {

// Returns the logarithm of a / b as 2 artanh((a - b) / (a + b)), a power series; 1/2 < a / b < 2.
inline LongDouble log_of_near_one(const LongDouble& a, const LongDouble& b) {
  constexpr int kTerms = 40;  // each below 1/9 of the one before
  const LongDouble z = (a - b) / (a + b);
  const LongDouble square = z * z;
  LongDouble power = z;
  LongDouble sum = z;
  for (int n = 1; n < kTerms; ++n) {
    power = power * square;
    sum = sum + power / LongDouble{2.0 * n + 1, 0};
  }
  return sum + sum;
}

// Returns the logarithm of a positive integer below 2^53.
inline LongDouble log_of(double n) {
  int doublings = 0;
  double power = 1;
  for (; 2 * power <= n; power *= 2) ++doublings;
  const LongDouble two = log_of_near_one({4, 0}, {3, 0}) + log_of_near_one({3, 0}, {2, 0});
  return LongDouble{static_cast<double>(doublings), 0} * two + log_of_near_one({n, 0}, {power, 0});
}

// Returns true if white (v / white)^(1 / G) is at least k + 1/2. gamma: G in millionths; v >= 1. Compares
// logarithms, whose errors are below 1e-27; for no v and gamma do the two sides differ by less than about
// 1e-19.
inline bool reaches_half(int v, int white, std::int64_t gamma, int k) {
  const LongDouble down_to_v = log_of(white) - log_of(v);
  const LongDouble down_to_half = log_of(2.0 * white) - log_of(2.0 * k + 1);
  const LongDouble difference = LongDouble{static_cast<double>(gamma), 0} * down_to_half -
                                LongDouble{static_cast<double>(kDecimalOne), 0} * down_to_v;
  return difference.high >= 0;
}

}  // namespace imgpipe
