#include "pipeline/statistics/image_statistics.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "images/error.h"
#include "pipeline/statistics/exact.h"

namespace imgpipe {
namespace {

constexpr std::uint64_t kWidening = 257;  // 65,535 / 255

// Returns N * sum of n(v) v^2 - (sum of n(v) v)^2, which is (N * deviation)^2. Values are taken relative to
// one near the mean, so the sums stay below 2^127 for kMaxSamples of 16 bits.
Uint128 squared_deviation(std::span<const std::uint64_t> counts, std::uint64_t samples, std::uint64_t sum) {
  const auto middle = static_cast<std::int64_t>(sum / samples);
  SignedWide first = 0;
  SignedWide second = 0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const SignedWide off = static_cast<std::int64_t>(value) - middle;
    first += off * static_cast<SignedWide>(counts[value]);
    second += off * off * static_cast<SignedWide>(counts[value]);
  }
  return static_cast<Uint128>(static_cast<SignedWide>(samples) * second - first * first);
}

// Returns the rank of a percentile, from 1.
std::uint64_t rank_of(Percent percent, std::uint64_t samples) {
  const Uint128 part = Uint128{static_cast<std::uint64_t>(percent)} * samples;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>((part + kAll - 1) / kAll));
}

int value_of_rank(std::span<const std::uint64_t> running, std::uint64_t rank) {
  return static_cast<int>(std::ranges::lower_bound(running, rank) - running.begin());
}

std::vector<std::uint64_t>& counts_in(ImageGroup::Channel& channel, Sample sample) {
  return is_wide(sample) ? channel.wide : channel.narrow;
}

void add_values(std::vector<std::uint64_t>& into, std::span<const std::uint64_t> counts) {
  for (std::size_t value = 0; value < counts.size(); ++value) into[value] += counts[value];
}

void add_counts(ImageGroup::Channel& channel, const SampleCounts& image, int c, std::uint64_t samples) {
  add_values(counts_in(channel, image.sample()), image.of(c));
  channel.samples += samples;
  ++channel.images;
}

void check_pixels(std::uint64_t counted, std::uint64_t pixels) {
  if (pixels > kMaxSamples - counted)
    throw Error(ErrorKind::input, "more than " + std::to_string(kMaxSamples) +
                                      " pixels in one group; count fewer images at a time");
}

// Calls action(channel, other) for the channels of two groups, creating those that `group` lacks.
template <class Action>
void for_both(ImageGroup& group, const ImageGroup& other, const Action& action) {
  group.color.resize(other.color.size());
  for (std::size_t c = 0; c < other.color.size(); ++c) action(group.color[c], other.color[c]);
  action(group.alpha, other.alpha);
}

void resize_counts(ImageGroup::Channel& channel, const ImageGroup::Channel& other) {
  channel.narrow.resize(std::max(channel.narrow.size(), other.narrow.size()));
  channel.wide.resize(std::max(channel.wide.size(), other.wide.size()));
}

void add_channel(ImageGroup::Channel& channel, const ImageGroup::Channel& other) {
  add_values(channel.narrow, other.narrow);
  add_values(channel.wide, other.wide);
  channel.samples += other.samples;
  channel.images += other.images;
}

}  // namespace

ChannelStatistics statistics_of(std::span<const std::uint64_t> counts, std::span<const Percent> percents) {
  ChannelStatistics statistics;
  statistics.percentiles.resize(percents.size());
  std::vector<std::uint64_t> running(counts.size());
  std::partial_sum(counts.begin(), counts.end(), running.begin());
  const std::uint64_t samples = running.empty() ? 0 : running.back();
  if (samples == 0) return statistics;
  statistics.samples = samples;
  std::uint64_t sum = 0;  // at most 2^48 * 65,535
  for (std::size_t value = 0; value < counts.size(); ++value) sum += value * counts[value];
  const auto largest = static_cast<std::uint64_t>(counts.size() - 1);
  const Uint128 squared = squared_deviation(counts, samples, sum);
  statistics.least = value_of_rank(running, 1);
  statistics.most = value_of_rank(running, samples);
  statistics.mean = rounded_ratio(sum, samples);
  statistics.unit_mean = rounded_ratio(sum, samples * largest);
  statistics.deviation = rounded_root(squared, samples);
  statistics.unit_deviation = rounded_root(squared, samples * largest);
  for (std::size_t i = 0; i < percents.size(); ++i)
    statistics.percentiles[i] = value_of_rank(running, rank_of(percents[i], samples));
  return statistics;
}

std::vector<std::uint64_t> ImageGroup::counts(const Channel& channel) const {
  if (!is_wide(scale())) return channel.narrow;
  std::vector<std::uint64_t> counts = channel.wide;
  counts.resize(65536);
  for (std::size_t value = 0; value < channel.narrow.size(); ++value)
    counts[value * kWidening] += channel.narrow[value];
  return counts;
}

std::span<const std::string_view> color_names(bool is_color) {
  static constexpr std::array<std::string_view, 1> kGrey{"grey"};
  static constexpr std::array<std::string_view, 3> kColors{"red", "green", "blue"};
  if (is_color) return kColors;
  return kGrey;
}

std::string_view group_name(bool is_color) {
  return is_color ? "rgb" : "grey";
}

void StatisticsCollector::add(const SampleCounts& image) {
  const Shape shape{1, 1, image.channels(), image.sample()};
  const bool is_color = shape.color_channels() > 1;
  const std::span<const std::uint64_t> first = image.of(0);
  const std::uint64_t pixels = std::accumulate(first.begin(), first.end(), std::uint64_t{0});
  const std::lock_guard lock(mutex_);
  ImageGroup& group = groups_[is_color];
  check_pixels(group.pixels, pixels);
  group.color.resize(static_cast<std::size_t>(shape.color_channels()));
  const auto channel_of = [&](int c) -> ImageGroup::Channel& {
    return c < shape.color_channels() ? group.color[static_cast<std::size_t>(c)] : group.alpha;
  };
  // Allocate first: an image must not be added partially if memory runs out.
  for (int c = 0; c < shape.channels; ++c)
    counts_in(channel_of(c), image.sample()).resize(static_cast<std::size_t>(image.bins()));
  for (int c = 0; c < shape.channels; ++c) add_counts(channel_of(c), image, c, pixels);
  ++group.images;
  group.pixels += pixels;
  if (is_wide(image.sample())) ++group.wide_images;
}

void StatisticsCollector::add(const FloatCounts& image, const std::optional<FloatBins>& bins) {
  const Shape shape{1, 1, image.channels(), Sample::f32};
  const int colors = shape.color_channels();
  FloatGroup alone{.images = 1,
                   .pixels = image.samples(0),
                   .alpha_images = shape.has_alpha() ? 1U : 0U,
                   .color = FloatCounts(colors, bins),
                   .alpha = FloatCounts(1, bins)};
  for (int c = 0; c < colors; ++c) alone.color.add(c, image, c);
  if (shape.has_alpha()) alone.alpha.add(0, image, colors);
  const std::lock_guard lock(mutex_);
  add_floats(colors > 1, alone);
}

void StatisticsCollector::add_floats(bool is_color, const FloatGroup& other) {
  const auto [entry, is_first] = float_groups_.try_emplace(is_color, other);
  if (is_first) return;
  FloatGroup& group = entry->second;
  check_pixels(group.pixels, other.pixels);
  group.images += other.images;
  group.pixels += other.pixels;
  group.alpha_images += other.alpha_images;
  group.color.add(other.color);
  group.alpha.add(other.alpha);
}

void StatisticsCollector::add(const StatisticsCollector& others) {
  const std::lock_guard lock(mutex_);
  for (const auto& [is_color, other] : others.float_groups_)
    if (float_groups_.contains(is_color)) check_pixels(float_groups_.at(is_color).pixels, other.pixels);
  for (const auto& [is_color, other] : others.groups_) check_pixels(groups_[is_color].pixels, other.pixels);
  for (const auto& [is_color, other] : others.groups_) for_both(groups_[is_color], other, resize_counts);
  for (const auto& [is_color, other] : others.groups_) {
    ImageGroup& group = groups_[is_color];
    for_both(group, other, add_channel);
    group.images += other.images;
    group.pixels += other.pixels;
    group.wide_images += other.wide_images;
  }
  for (const auto& [is_color, other] : others.float_groups_) add_floats(is_color, other);
}

}  // namespace imgpipe
