// Mean, deviation and percentiles of the samples of many images.
//
// All are computed from exact counts (pipeline/statistics/sample_counts.h), which add up in any order, so
// results do not depend on the number of threads. With N samples of a channel, n(v) of them of value v:
//
//   mean        (sum of n(v) v) / N
//   deviation   of the population: sqrt((sum of n(v) (v - mean)^2) / N)
//   percentile  p: the smallest v such that at least p percent of the N samples are v or below it (nearest
//               rank; type 1 of Hyndman and Fan, Sample quantiles in statistical packages, 1996)
//
// The fractions are exact integers until they are rounded, once, to a double.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/statistics/float_counts.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

// Percent, in millionths: 0 to 100,000,000.
using Percent = std::int64_t;
inline constexpr Percent kWholePercent = 1'000'000;
inline constexpr Percent kAll = 100 * kWholePercent;

// The maximum number of samples per channel for which sums stay within 128 bits and results are exact.
inline constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 48;

struct ChannelStatistics {
  std::uint64_t samples = 0;
  int least = 0, most = 0;                   // values that occur
  double mean = 0, deviation = 0;            // on the scale of the samples
  double unit_mean = 0, unit_deviation = 0;  // on the scale 0 to 1: a sample's largest value is 1
  std::vector<int> percentiles;              // one per requested percentage
};

// `counts`: 256 or 65,536, at most kMaxSamples in total. All results are zero if nothing was counted.
[[nodiscard]] ChannelStatistics statistics_of(std::span<const std::uint64_t> counts,
                                              std::span<const Percent> percents);

// The images of one kind, grey or colour, with or without alpha.
struct ImageGroup {
  // A channel's counts. 8-bit samples are counted separately: value v equals 257 v on the scale of 16 bits.
  struct Channel {
    std::vector<std::uint64_t> narrow;  // 256, or none
    std::vector<std::uint64_t> wide;    // 65,536, or none
    std::uint64_t samples = 0;
    std::uint64_t images = 0;
  };

  std::uint64_t images = 0, pixels = 0;
  std::uint64_t wide_images = 0;  // number of images with 16-bit samples
  std::vector<Channel> color;     // grey; or red, green, blue
  Channel alpha;                  // of the images that have one

  [[nodiscard]] bool is_color() const { return color.size() > 1; }
  // The common scale of its images: that of 8 bits unless one has more.
  [[nodiscard]] Sample scale() const { return wide_images > 0 ? Sample::u16 : Sample::u8; }
  [[nodiscard]] std::vector<std::uint64_t> counts(const Channel& channel) const;
};

// The images of floats of one kind.
struct FloatGroup {
  std::uint64_t images = 0, pixels = 0;
  std::uint64_t alpha_images = 0;
  FloatCounts color;  // grey; or red, green, blue
  FloatCounts alpha;  // one channel: of the images that have it

  [[nodiscard]] bool is_color() const { return color.channels() > 1; }
};

// The names of a group's colours: "grey", or "red", "green", "blue".
[[nodiscard]] std::span<const std::string_view> color_names(bool is_color);
inline constexpr std::string_view kAlphaName = "alpha";
// "grey" or "rgb".
[[nodiscard]] std::string_view group_name(bool is_color);

// Accumulates images; add() may be called from any thread.
class StatisticsCollector {
 public:
  // Adds an image by its counts. Throws Error(input) and adds nothing if a channel would exceed kMaxSamples.
  void add(const SampleCounts& image);
  // The same for an image of floats; the bins of all images must be equal.
  void add(const FloatCounts& image, const std::optional<FloatBins>& bins);
  // Adds the images of another collector, which must not change meanwhile. Throws as above, adding nothing.
  void add(const StatisticsCollector& others);

  // Grey before colour. Must not be called while images are added.
  [[nodiscard]] const std::map<bool, ImageGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::map<bool, FloatGroup>& float_groups() const { return float_groups_; }

 private:
  void add_floats(bool is_color, const FloatGroup& other);  // with mutex_ locked

  std::mutex mutex_;
  std::map<bool, ImageGroup> groups_;  // by is_color()
  std::map<bool, FloatGroup> float_groups_;
};

}  // namespace imgpipe
