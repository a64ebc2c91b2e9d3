#pragma once

#include <cmath>

#include "kernels/pixel.h"

namespace imgpipe {

// The sum of two doubles, low below half an ulp of high, for tables that must be identical on every machine
// (Dekker, A floating-point technique for extending the available precision, 1971).
struct LongDouble {
  double high = 0, low = 0;
};

IMGPIPE_HOST_DEVICE inline LongDouble long_sum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}
IMGPIPE_HOST_DEVICE inline LongDouble operator+(const LongDouble& a, const LongDouble& b) {
  const LongDouble sum = long_sum(a.high, b.high);
  return long_sum(sum.high, sum.low + (a.low + b.low));
}
IMGPIPE_HOST_DEVICE inline LongDouble operator-(const LongDouble& a, const LongDouble& b) {
  return a + LongDouble{-b.high, -b.low};
}
IMGPIPE_HOST_DEVICE inline LongDouble operator*(const LongDouble& a, const LongDouble& b) {
  const double product = a.high * b.high;
  const double rest = fma(a.high, b.high, -product);
  return long_sum(product, rest + (a.high * b.low + a.low * b.high));
}
IMGPIPE_HOST_DEVICE inline LongDouble operator/(const LongDouble& a, const LongDouble& b) {
  const double first = a.high / b.high;
  const LongDouble rest = a - LongDouble{first, 0} * b;
  const double second = rest.high / b.high;
  const LongDouble last = rest - LongDouble{second, 0} * b;
  return long_sum(first, second) + LongDouble{last.high / b.high, 0};
}

}  // namespace imgpipe
