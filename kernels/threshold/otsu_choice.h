// Otsu's value from exact sums, without going from bin to bin, wherever the roundings of otsu_take() cannot
// change which value is the best. For host and device.
//
// With N samples of sum T, of which C are not above a value and have the sum M (without the first ones, whose
// class is too small: the mean of otsu_take() begins at 0 behind them), s = C / N, q = M / N, m = T / N, the
// variance is
//
//   G(s, q) = x^2 / (s (1 - s)),   x = q - s m = (M N - C T) / N^2
//
// C, M, N, T are whole numbers below 2^53, and x is known as well as one wants. What otsu_take() and
// otsu_variance() make of it is off by their roundings, of at most u = 2^-53 each:
//
// 1. A bin without samples changes nothing: its share is 0, and a mean that was made as the quotient t / s is
//    what comes out of (mean s) / s. (With significands mean s < 2 the product's error, divided, is less than
//    half a unit of the mean; else mean s is within half a unit of t, and the product is t.) Of values that
//    part equally the first wins: only bins with samples count, n of them at most.
// 2. The class's share is off by at most (n + 3) u s, its share times its mean by (3 n + 5) u q, the mean of
//    all by 3 u m, and otsu_variance() itself by 16 u (1 + s m / |x|) of the variance. So x is off by less
//    than 2 n u (3 q + 2 s m), which gives limits for every bin's variance; Limits below. All are doubled:
//    what is of second order, and the roundings of the limits themselves, is less than that.
// 3. Few bins can be the best by these limits. Of two of them, k bins apart, the later one's error is the
//    earlier one's, and what k bins add to it: at most (k + 3) u s and (3 k + 5) u q. What both have in
//    common changes log G at one by nearly as much as at the other, by the differences of its derivatives
//    1 / x, s / x, 1 / s and 1 / (1 - s) times the error. That is some 2^-16 of it where 65,536 bins have
//    samples, and tells nearly all pairs apart; see surely_better().
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/pixel.h"
#include "kernels/shared/long_double.h"
#include "kernels/threshold/threshold.h"

namespace imgpipe {

inline constexpr double kUnit = 0x1p-53;
inline constexpr double kMaxBins = 65536 + 8;

// Of all samples; whole numbers, and 1 / samples.
struct OtsuTotals {
  double samples = 0, sum = 0;
  double inverse = 1 / samples;
};
// Those from which on nothing here is exact any more.
inline constexpr double kMaxOtsuSamples = 0x1p37;

// Of a bin that has samples, and of all before it; whole numbers. `sum`: without the classes that are too
// small.
struct OtsuBin {
  int value;
  double samples, sum;
};

// Whether both classes behind a bin are large enough.
enum class OtsuParts : std::uint8_t { no, perhaps, yes };

IMGPIPE_HOST_DEVICE inline bool is_power_of_two(double whole) {
  const auto n = static_cast<std::uint64_t>(whole);
  return (n & (n - 1)) == 0;
}

// One class of so many samples of all. Shares of a power of two are exact.
IMGPIPE_HOST_DEVICE inline OtsuParts large_enough(double samples, double all) {
  const double times = samples * 0x1p23;
  if (is_power_of_two(all)) return times >= all ? OtsuParts::yes : OtsuParts::no;
  if (times >= all * (1 + 0x1p-20)) return OtsuParts::yes;
  return times <= all * (1 - 0x1p-20) ? OtsuParts::no : OtsuParts::perhaps;
}

// What limits are made of.
struct OtsuPoint {
  double s, q, m, rest;  // rest: 1 - s
  double x;              // its magnitude; it is negative
};
IMGPIPE_HOST_DEVICE inline OtsuPoint otsu_point(const OtsuTotals& all, const OtsuBin& bin) {
  // C T - M N: products of whole numbers below 2^90, one of them with what its rounding has lost.
  const double product = bin.samples * all.sum;
  const double lost = fma(bin.samples, all.sum, -product);
  const double whole = lost - fma(bin.sum, all.samples, -product);
  return {bin.samples * all.inverse, bin.sum * all.inverse, all.sum * all.inverse,
          (all.samples - bin.samples) * all.inverse, fabs(whole) * all.inverse * all.inverse};
}

// Limits of what otsu_variance() makes of a bin.
struct OtsuLimits {
  double least, most;
};
IMGPIPE_HOST_DEVICE inline OtsuLimits otsu_limits(const OtsuPoint& at) {
  const double off = 4 * kMaxBins * kUnit * (3 * at.q + 2 * at.s * at.m);
  const double lower = at.x > off ? at.x - off : 0;
  const double upper = at.x + off;
  const double inverse = 1 / (at.s * at.rest);
  const double factor = 8 * kMaxBins * kUnit * (at.s * inverse);  // some u / (1 - s)
  return {lower * lower * inverse * (1 - factor), upper * upper * inverse * (1 + factor)};
}

// The variance to some 100 binary digits, but for a factor that all bins have.
IMGPIPE_HOST_DEVICE inline LongDouble exact_variance(const OtsuTotals& all, const OtsuBin& bin) {
  const LongDouble x = LongDouble{bin.samples, 0} * LongDouble{all.sum, 0} -
                       LongDouble{bin.sum, 0} * LongDouble{all.samples, 0};
  return x * x / (LongDouble{bin.samples, 0} * LongDouble{all.samples - bin.samples, 0});
}

// Whether otsu_variance() makes more of bin a than of bin b, whatever the roundings; `ga`, `gb`: their exact
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
