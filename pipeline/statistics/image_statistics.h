// Mean, deviation and percentiles of the samples of many images.
//
// All of it follows from exact counts (pipeline/statistics/sample_counts.h), which add up in any order, so
// that nothing depends on how many threads there were. With N samples of a channel, n(v) of them of the value
// v:
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
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

// Percent, in millionths: 0 to 100,000,000.
using Percent = std::int64_t;
inline constexpr Percent kWholePercent = 1'000'000;
inline constexpr Percent kAll = 100 * kWholePercent;

// Sums stay within 128 bits, and their results exact, for that many samples of a channel.
inline constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 48;

struct ChannelStatistics {
  std::uint64_t samples = 0;
  int least = 0, most = 0;                   // values that occur
  double mean = 0, deviation = 0;            // on the scale of the samples
  double unit_mean = 0, unit_deviation = 0;  // on the scale 0 to 1: a sample's largest value is 1
  std::vector<int> percentiles;              // of each percentage that was asked for
};

// `counts`: 256 or 65,536, of a kMostSamples at most. All is zero where nothing was counted.
[[nodiscard]] ChannelStatistics statistics_of(std::span<const std::uint64_t> counts,
                                              std::span<const Percent> percents);

// The images of one kind, grey or colour, with alpha or without.
struct ImageGroup {
  // A channel's counts. 8-bit samples are kept apart: v stands for 257 v of 65,535.
  struct Channel {
    std::vector<std::uint64_t> narrow;  // 256, or none
    std::vector<std::uint64_t> wide;    // 65,536, or none
    std::uint64_t samples = 0;
    std::uint64_t images = 0;
  };

  std::uint64_t images = 0, pixels = 0;
  std::uint64_t wide_images = 0;  // of them, with samples of 16 bits
  std::vector<Channel> color;     // grey; or red, green, blue
  Channel alpha;                  // of the images that have one

  [[nodiscard]] bool is_color() const { return color.size() > 1; }
  // The scale that all its images are given on: that of 8 bits where none has more.
  [[nodiscard]] Sample scale() const { return wide_images > 0 ? Sample::u16 : Sample::u8; }
  // Counts on that scale.
  [[nodiscard]] std::vector<std::uint64_t> counts(const Channel& channel) const;
};

// "grey" or "red", "green", "blue": a group's colours.
[[nodiscard]] std::span<const std::string_view> color_names(bool is_color);
inline constexpr std::string_view kAlphaName = "alpha";
// "grey" or "rgb".
[[nodiscard]] std::string_view group_name(bool is_color);

// Adds images up, from any thread.
class StatisticsCollector {
 public:
  // An image, by its counts. Throws Error(input) where a channel would have more than kMostSamples; nothing
  // is added then.
  void add(const SampleCounts& image);
  // All that another one has added, which is at rest. Throws as above, with nothing added.
  void add(const StatisticsCollector& others);

  // Grey before colour. Not while images are added.
  [[nodiscard]] const std::map<bool, ImageGroup>& groups() const { return groups_; }

 private:
  std::mutex mutex_;
  std::map<bool, ImageGroup> groups_;  // by is_color()
};

}  // namespace imgpipe
