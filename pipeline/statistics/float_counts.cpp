#include "pipeline/statistics/float_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "pipeline/statistics/wide_integer.h"

namespace imgpipe {
namespace {

constexpr int kFractionBits = 23;
constexpr int kLeastExponent = -149;  // of the last bit of a denormal

}  // namespace

FloatCounts::FloatCounts(int channels, std::optional<FloatBins> bins)
    : bins_(bins), channels_(static_cast<std::size_t>(channels)) {
  if (!bins_) return;
  for (int i = 0; i <= bins_->bins; ++i) edges_.push_back(bins_->edge(i));
  for (Channel& channel : channels_) channel.counts.resize(static_cast<std::size_t>(bins_->bins));
}

std::uint64_t FloatCounts::samples(int channel) const {
  return channels_[static_cast<std::size_t>(channel)].samples;
}

void FloatCounts::count(const ConstHostView& rows) {
  const Plane<const float, Host> plane = rows.as<float>();
  for (std::int64_t y = 0; y < plane.height; ++y) {
    const float* sample = plane.row(y);
    for (std::int64_t x = 0; x < plane.width; ++x)
      for (Channel& channel : channels_) count(channel, *sample++);
  }
}

void FloatCounts::count(Channel& channel, float sample) const {
  ++channel.samples;
  sample += 0.0F;  // -0 and 0 are one value, whichever comes first
  const auto bits = std::bit_cast<std::uint32_t>(sample);
  const std::uint32_t exponent = bits >> kFractionBits & 255U, fraction = bits & ((1U << kFractionBits) - 1);
  if (exponent == 255) {
    ++(fraction != 0 ? channel.nan : bits >> 31 != 0 ? channel.negative_infinite : channel.positive_infinite);
    return;
  }
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | 1U << kFractionBits;
  Sums& sums = channel.sums[exponent];
  (bits >> 31 != 0 ? sums.negative : sums.positive) += mantissa;
  const std::uint64_t square = mantissa * mantissa;  // below 2^48
  sums.squares += square;
  channel.least = channel.has_finite ? std::min(channel.least, sample) : sample;
  channel.most = channel.has_finite ? std::max(channel.most, sample) : sample;
  channel.has_finite = true;
  if (!bins_) return;
  const double value = sample;
  if (value < bins_->least) {
    ++channel.below;
  } else if (value > bins_->most) {
    ++channel.above;
  } else {
    const auto after = std::ranges::upper_bound(edges_.begin() + 1, edges_.end() - 1, value);
    ++channel.counts[static_cast<std::size_t>(after - edges_.begin()) - 1];
  }
}

void FloatCounts::add(Channel& channel, const Channel& other) {
  for (std::size_t i = 0; i < kExponents; ++i) {
    channel.sums[i].positive += other.sums[i].positive;
    channel.sums[i].negative += other.sums[i].negative;
    channel.sums[i].squares += other.sums[i].squares;
  }
  channel.samples += other.samples;
  channel.nan += other.nan;
  channel.positive_infinite += other.positive_infinite;
  channel.negative_infinite += other.negative_infinite;
  if (other.has_finite) {
    channel.least = channel.has_finite ? std::min(channel.least, other.least) : other.least;
    channel.most = channel.has_finite ? std::max(channel.most, other.most) : other.most;
    channel.has_finite = true;
  }
  channel.below += other.below;
  channel.above += other.above;
  std::ranges::transform(other.counts, channel.counts, channel.counts.begin(), std::plus());
}

void FloatCounts::add(const FloatCounts& other) {
  for (int c = 0; c < channels(); ++c) add(c, other, c);
}

void FloatCounts::add(int channel, const FloatCounts& other, int other_channel) {
  add(channels_[static_cast<std::size_t>(channel)], other.channels_[static_cast<std::size_t>(other_channel)]);
}

FloatStatistics FloatCounts::statistics(int number) const {
  const Channel& channel = channels_[static_cast<std::size_t>(number)];
  FloatStatistics found{.samples = channel.samples,
                        .nan = channel.nan,
                        .positive_infinite = channel.positive_infinite,
                        .negative_infinite = channel.negative_infinite,
                        .least = channel.least,
                        .most = channel.most,
                        .below = channel.below,
                        .above = channel.above,
                        .counts = channel.counts};
  const std::uint64_t finite = found.samples - found.nan - found.positive_infinite - found.negative_infinite;
  if (finite == 0) return found;
  // Sums in units of the least denormal, and squares in its square.
  WideInteger positive, negative, squares;
  for (std::size_t i = 0; i < kExponents; ++i) {
    const int shift = std::max(static_cast<int>(i) - 1, 0);
    positive.add_shifted(channel.sums[i].positive, shift);
    negative.add_shifted(channel.sums[i].negative, shift);
    squares.add_shifted(channel.sums[i].squares, 2 * shift);
  }
  const bool is_negative = positive < negative;
  WideInteger sum = is_negative ? negative : positive;
  sum.subtract(is_negative ? positive : negative);
  WideInteger radicand = squares * WideInteger(finite);
  radicand.subtract(sum * sum);
  const auto count = static_cast<double>(finite);
  found.mean = (is_negative ? -1 : 1) * sum.scaled(kLeastExponent) / count;
  // A double holds the radicand without its scale, but not the smallest with it.
  found.deviation = std::ldexp(std::sqrt(radicand.scaled(0)) / count, kLeastExponent);
  return found;
}

std::int64_t FloatCounts::bytes_of(int channels, const std::optional<FloatBins>& bins) {
  const auto counts = static_cast<std::int64_t>(sizeof(std::uint64_t)) * (bins ? bins->bins : 0);
  return channels * (static_cast<std::int64_t>(sizeof(Channel)) + counts) + counts;
}

}  // namespace imgpipe
