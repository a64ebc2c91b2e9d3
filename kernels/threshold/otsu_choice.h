// Finds Otsu's value from exact sums, without visiting bins in order, wherever the roundings of otsu_add()
// cannot change which value is the best. For host and device.
//
// N samples have the sum T. C of them are at or below a value; M is the sum of these without the first
// samples, whose class is too small: the mean of otsu_add() is still 0 after them. With s = C / N, q = M / N,
// m = T / N, the variance is
//
//   G(s, q) = x^2 / (s (1 - s)),   x = q - s m = (M N - C T) / N^2
//
// C, M, N, T are whole numbers below 2^53, so x is available to any precision. The results of otsu_add() and
// otsu_variance() differ by their roundings, of at most u = 2^-53 each:
//
// 1. A bin without samples changes nothing: its share is 0, and (mean s) / s is the mean again if the mean
//    is a quotient t / s. (If the product of both significands is below 2, its error divided by s is less
//    than half a unit of the mean; otherwise mean s is within half a unit of t, and rounds to t.) The first
//    of equal values wins, so only bins with samples count, at most n of them.
// 2. The class's share is off by at most (n + 3) u s, its share times its mean by (3 n + 5) u q, the mean of
//    all by 3 u m, and otsu_variance() itself by 16 u (1 + s m / |x|) of the variance. So x is off by less
//    than 2 n u (3 q + 2 s m), which gives limits for every bin's variance: OtsuLimits. All are doubled,
//    which covers second-order terms and the roundings of the limits themselves.
// 3. Within these limits, few bins can be the best. Of two of them, k bins apart, the later one's error is
//    the earlier one's plus that of k bins: at most (k + 3) u s and (3 k + 5) u q. The common part changes
//    log G nearly equally at both, up to the differences of its derivatives 1 / x, s / x, 1 / s and
//    1 / (1 - s) times the error. That is some 2^-16 of the error if 65,536 bins have samples, and separates
//    nearly all pairs; see surely_better().
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/pixel.h"
#include "kernels/shared/long_double.h"
#include "kernels/threshold/threshold.h"

namespace imgpipe {

inline constexpr double kUnit = 0x1p-53;
inline constexpr double kMaxBins = 65536 + 8;

// Totals of all samples; whole numbers, and 1 / samples.
struct OtsuTotals {
  double samples = 0, sum = 0;
  double inverse = 1 / samples;
};
// From this number of samples on, the sums are not exact.
inline constexpr double kMaxOtsuSamples = 0x1p37;

// Totals up to a bin that has samples; whole numbers. `sum`: without the classes that are too small.
struct OtsuBin {
  int value;
  double samples, sum;
};

// Whether both classes split after a bin are large enough.
enum class OtsuParts : std::uint8_t { no, perhaps, yes };

IMGPIPE_HOST_DEVICE inline bool is_power_of_two(double whole) {
  const auto n = static_cast<std::uint64_t>(whole);
  return (n & (n - 1)) == 0;
}

// Whether a class of `samples` out of `all` is large enough. Shares are exact if `all` is a power of two.
IMGPIPE_HOST_DEVICE inline OtsuParts large_enough(double samples, double all) {
  const double times = samples * 0x1p23;
  if (is_power_of_two(all)) return times >= all ? OtsuParts::yes : OtsuParts::no;
  if (times >= all * (1 + 0x1p-20)) return OtsuParts::yes;
  return times <= all * (1 - 0x1p-20) ? OtsuParts::no : OtsuParts::perhaps;
}

// The inputs of the limits.
struct OtsuPoint {
  double s, q, m, rest;  // rest: 1 - s
  double x;              // the magnitude; x is negative
};
IMGPIPE_HOST_DEVICE inline OtsuPoint otsu_point(const OtsuTotals& all, const OtsuBin& bin) {
  // C T - M N: whole products below 2^90; `lost` is the rounding error of the first one.
  const double product = bin.samples * all.sum;
  const double lost = fma(bin.samples, all.sum, -product);
  const double whole = lost - fma(bin.sum, all.samples, -product);
  return {bin.samples * all.inverse, bin.sum * all.inverse, all.sum * all.inverse,
          (all.samples - bin.samples) * all.inverse, fabs(whole) * all.inverse * all.inverse};
}

// Limits of the result of otsu_variance() for a bin.
struct OtsuLimits {
  double least, most;
};
IMGPIPE_HOST_DEVICE inline OtsuLimits otsu_limits(const OtsuPoint& at) {
  const double off = 4 * kMaxBins * kUnit * (3 * at.q + 2 * at.s * at.m);
  const double lower = at.x > off ? at.x - off : 0;
  const double upper = at.x + off;
  const double inverse = 1 / (at.s * at.rest);
  const double factor = 8 * kMaxBins * kUnit * (at.s * inverse);  // about u / (1 - s)
  return {lower * lower * inverse * (1 - factor), upper * upper * inverse * (1 + factor)};
}

// Returns the variance to some 100 binary digits, up to a factor common to all bins.
IMGPIPE_HOST_DEVICE inline LongDouble exact_variance(const OtsuTotals& all, const OtsuBin& bin) {
  const LongDouble x = LongDouble{bin.samples, 0} * LongDouble{all.sum, 0} -
                       LongDouble{bin.sum, 0} * LongDouble{all.samples, 0};
  return x * x / (LongDouble{bin.samples, 0} * LongDouble{all.samples - bin.samples, 0});
}

// Whether otsu_variance() is larger for bin a than for b, whatever the roundings; `ga`, `gb`: exact
// variances.
IMGPIPE_HOST_DEVICE inline bool surely_better(const OtsuTotals& all, const OtsuBin& a, const LongDouble& ga,
                                              const OtsuBin& b, const LongDouble& gb) {
  const OtsuPoint at = otsu_point(all, a);
  const OtsuPoint to = otsu_point(all, b);
  const double apart = fabs(static_cast<double>(a.value - b.value));
  const double s = at.s > to.s ? at.s : to.s;
  const double q = at.q > to.q ? at.q : to.q;
  // Differences of the derivatives of log G by q, by m and by s.
  const double by_q = 2 * fabs(1 / at.x - 1 / to.x);
  const double by_m = 2 * fabs(at.s / at.x - to.s / to.x);
  const double by_s = at.m * by_q + fabs(1 / at.s - 1 / to.s) + fabs(1 / at.rest - 1 / to.rest);
  const double common = kMaxBins * (s * by_s + 3 * q * by_q) + 3 * at.m * by_m;
  const auto spread = [](const OtsuPoint& one) {
    return (6 * one.q + 4 * one.s * one.m) / one.x + 1 / one.rest;
  };
  const double own = (apart + 16) * (spread(at) + spread(to) + 4);
  const double error = 4 * kUnit * (common + own);
  if (!(error < 0x1p-12)) return false;
  return (ga - gb).high > error * ga.high;
}

}  // namespace imgpipe
