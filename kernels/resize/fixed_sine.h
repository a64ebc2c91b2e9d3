// Sine and cosine with the same bits on every machine: only additions, subtractions, products and quotients
// of doubles, each rounded to nearest, in a fixed order. Results are within 0.501 units of the last bit.
#pragma once

namespace imgpipe {
namespace fixed_sine {

// An unevaluated sum; |low| is at most half a unit of the last bit of `high`.
struct Pair {
  double high = 0, low = 0;
};

// Returns a + b exactly (Knuth).
constexpr Pair exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// Returns a * b exactly (Dekker); no product of halves overflows or underflows here.
constexpr Pair exact_product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1;
  const double a_high = a * kSplit - (a * kSplit - a);
  const double b_high = b * kSplit - (b * kSplit - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr Pair sum(const Pair& a, const Pair& b) {
  const Pair high = exact_sum(a.high, b.high);
  return exact_sum(high.high, high.low + (a.low + b.low));
}

constexpr Pair product(const Pair& a, const Pair& b) {
  const Pair high = exact_product(a.high, b.high);
  return exact_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

constexpr Pair reciprocal(double divisor) {
  const double high = 1 / divisor;
  const Pair back = exact_product(high, divisor);
  return {high, ((1 - back.high) - back.low) / divisor};
}

// Returns 1 - square / divisor * rest.
constexpr Pair series_step(const Pair& square, const Pair& divided, const Pair& rest) {
  const Pair term = product(product(square, divided), rest);
  return sum({1, 0}, {-term.high, -term.low});
}

// The Taylor series of cos(r) (from 1 * 2) or sin(r) / r (from 2 * 3), |r| <= pi/4: the first three factors
// in pairs, the others in doubles.
template <int First>
constexpr Pair series(const Pair& square) {
  constexpr Pair kInverse[3] = {reciprocal(First * (First + 1)), reciprocal((First + 2) * (First + 3)),
                                reciprocal((First + 4) * (First + 5))};
  constexpr double kRest[6] = {1.0 / ((First + 6) * (First + 7)),   1.0 / ((First + 8) * (First + 9)),
                               1.0 / ((First + 10) * (First + 11)), 1.0 / ((First + 12) * (First + 13)),
                               1.0 / ((First + 14) * (First + 15)), 1.0 / ((First + 16) * (First + 17))};
  double rest = 1;
  for (int i = 5; i >= 0; --i) rest = 1 - square.high * kRest[i] * rest;
  Pair value{rest, 0};
  for (int i = 2; i >= 0; --i) value = series_step(square, kInverse[i], value);
  return value;
}

// Returns x - k * pi/2, 0 <= k < 16, with an error below 2^-140. The parts of pi/2 have at most 48 bits, so
// that their products with k are exact.
constexpr Pair reduced(double x, int k) {
  constexpr double kParts[3] = {0x1.921fb54442d00p+0, 0x1.8469898cc5160p-48, 0x1.01b839a252040p-96};
  Pair rest = exact_sum(x, -k * kParts[0]);
  rest = sum(rest, {-k * kParts[1], 0});
  return sum(rest, {-k * kParts[2], 0});
}

// Returns the sine (odd turns: cosine) of 0 <= x < 16.
constexpr double wave(double x, int turns) {
  constexpr double kPerTurn = 0x1.45f306dc9c883p-1;  // 2/pi
  const int k =
      static_cast<int>(x * kPerTurn + 0.5);  // NOLINT(bugprone-incorrect-roundings): any near k will do
  const Pair rest = reduced(x, k);
  const Pair square = product(rest, rest);
  const int quadrant = (k + turns) % 4;
  const Pair value = quadrant % 2 == 1 ? series<1>(square) : product(rest, series<2>(square));
  return quadrant >= 2 ? -value.high : value.high;
}

}  // namespace fixed_sine

// |x| < 16.
constexpr double sine(double x) {
  return x < 0 ? -fixed_sine::wave(-x, 0) : fixed_sine::wave(x, 0);
}
constexpr double cosine(double x) {
  return fixed_sine::wave(x < 0 ? -x : x, 1);
}

static_assert(sine(0.0) == 0.0 && cosine(0.0) == 1.0 && sine(0x1p-30) == 0x1p-30);
// The doubles nearest to pi/2 and pi.
static_assert(sine(0x1.921fb54442d18p+0) == 1.0 && cosine(0x1.921fb54442d18p+0) == 0x1.1a62633145c07p-54);
static_assert(sine(0x1.921fb54442d18p+1) == 0x1.1a62633145c07p-53 && cosine(0x1.921fb54442d18p+1) == -1.0);
}  // namespace imgpipe
