// Statistics of float samples, from exact sums.
//
// For each exponent, the sums of the mantissas and of their squares are integers. They add up in any order,
// so results do not depend on the number of threads. With N finite samples of a channel:
//
//   sum        of the samples, exact, rounded once to a double
//   mean       sum / N
//   deviation  sqrt(N * (sum of squares) - (sum)^2) / N; the radicand is exact and rounded once
//
// where each division and root of doubles is rounded once. NaN and infinities are counted, and left out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/plane.h"
#include "kernels/hist/float_bins.h"
#include "pipeline/statistics/exact.h"

namespace imgpipe {

struct FloatStatistics {
  std::uint64_t samples = 0;  // all
  std::uint64_t nan = 0, positive_infinite = 0, negative_infinite = 0;
  double least = 0, most = 0;  // of the finite samples, like the rest; 0 without any
  double mean = 0, deviation = 0;
  // With FloatBins: counts of finite samples below, above and in the bins.
  std::uint64_t below = 0, above = 0;
  std::vector<std::uint64_t> counts;
};

// The samples of images with equal numbers of channels; alpha is an ordinary channel.
class FloatCounts {
 public:
  FloatCounts() = default;
  FloatCounts(int channels, std::optional<FloatBins> bins);

  [[nodiscard]] int channels() const noexcept { return static_cast<int>(channels_.size()); }
  [[nodiscard]] std::uint64_t samples(int channel) const;

  // Counts rows of f32 with this number of channels.
  void count(const ConstHostView& rows);
  // Adds counts of the same number of channels, by the same bins.
  void add(const FloatCounts& other);
  // Adds one channel of other counts to a channel of these.
  void add(int channel, const FloatCounts& other, int other_channel);
  [[nodiscard]] FloatStatistics statistics(int channel) const;

  [[nodiscard]] static std::int64_t bytes_of(int channels, const std::optional<FloatBins>& bins);

 private:
  static constexpr std::size_t kExponents = 255;  // finite
  struct Sums {
    Uint128 positive = 0, negative = 0;  // of the mantissas, without sign
    Uint128 squares = 0;
  };
  struct Channel {
    std::array<Sums, kExponents> sums{};
    std::uint64_t samples = 0, nan = 0, positive_infinite = 0, negative_infinite = 0;
    float least = 0, most = 0;
    bool has_finite = false;
    std::uint64_t below = 0, above = 0;
    std::vector<std::uint64_t> counts{};
  };

  void count(Channel& channel, float sample) const;
  static void add(Channel& channel, const Channel& other);

  std::optional<FloatBins> bins_;
  std::vector<double> edges_;
  std::vector<Channel> channels_;
};

}  // namespace imgpipe
