// Counts like kernels/shared/count_samples.cpp, for interleaved channels. An addition to a counter must wait
// for the previous one, so 8-bit samples use several tables in turn. For 16 bits one table per channel
// already fills the L2 cache.
#include "pipeline/statistics/sample_counts.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace imgpipe {
namespace {

constexpr int kBins = 256;
constexpr int kTablePitch = kBins + 16;  // not a power of two: see kernels/shared/count_samples.cpp
// 32-bit counters hold the counts of this many pixels plus a row.
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 31;

template <int kChannels>
constexpr int kTurns = kChannels <= 2 ? 8 : 4;

template <int kChannels>
using Tables = std::array<std::array<std::array<std::uint32_t, kTablePitch>, kChannels>, kTurns<kChannels>>;

template <int kChannels>
void count_row(const std::uint8_t* row, std::int64_t width, Tables<kChannels>& tables) {
  constexpr std::int64_t kTurn = kTurns<kChannels>;
  std::int64_t x = 0;
  for (; x + kTurn <= width; x += kTurn, row += kTurn * kChannels) {
    for (std::size_t turn = 0; turn < kTurn; ++turn) {
      for (std::size_t c = 0; c < kChannels; ++c) ++tables[turn][c][row[turn * kChannels + c]];
    }
  }
  for (; x < width; ++x, row += kChannels) {
    for (std::size_t c = 0; c < kChannels; ++c) ++tables[0][c][row[c]];
  }
}

template <int kChannels>
void add_up(Tables<kChannels>& tables, std::vector<std::uint64_t>& values) {
  for (auto& turn : tables) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      for (std::size_t bin = 0; bin < kBins; ++bin) values[c * kBins + bin] += turn[c][bin];
      turn[c].fill(0);
    }
  }
}

template <int kChannels>
void count_narrow(const Plane<const std::uint8_t, Host>& rows, std::vector<std::uint64_t>& values) {
  Tables<kChannels> tables{};
  std::int64_t counted = 0;
  for (std::int64_t y = 0; y < rows.height; ++y) {
    if (counted + rows.width > kMaxPixels) {
      add_up<kChannels>(tables, values);
      counted = 0;
    }
    count_row<kChannels>(rows.row(y), rows.width, tables);
    counted += rows.width;
  }
  add_up<kChannels>(tables, values);
}

void count_wide(const Plane<const std::uint16_t, Host>& rows, std::vector<std::uint64_t>& values) {
  constexpr std::size_t kWideBins = 65536;
  const auto channels = static_cast<std::size_t>(rows.channels);
  for (std::int64_t y = 0; y < rows.height; ++y) {
    const std::uint16_t* sample = rows.row(y);
    for (std::int64_t x = 0; x < rows.width; ++x) {
      for (std::size_t c = 0; c < channels; ++c) ++values[c * kWideBins + *sample++];
    }
  }
}

}  // namespace

SampleCounts::SampleCounts(int channels, Sample sample)
    : channels_(channels),
      sample_(sample),
      values_(static_cast<std::size_t>(channels) * static_cast<std::size_t>(imgpipe::bins(sample))) {}

std::span<const std::uint64_t> SampleCounts::of(int channel) const {
  const auto bins_of_one = static_cast<std::size_t>(bins());
  return std::span(values_).subspan(static_cast<std::size_t>(channel) * bins_of_one, bins_of_one);
}

void SampleCounts::count(const ConstHostView& rows) {
  if (is_wide(sample_)) return count_wide(rows.as<std::uint16_t>(), values_);
  const auto narrow = rows.as<std::uint8_t>();
  if (channels_ == 1) return count_narrow<1>(narrow, values_);
  if (channels_ == 2) return count_narrow<2>(narrow, values_);
  if (channels_ == 3) return count_narrow<3>(narrow, values_);
  count_narrow<4>(narrow, values_);
}

void SampleCounts::add(const SampleCounts& other) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
}

std::int64_t SampleCounts::bytes_of(int channels, Sample sample) {
  return channels * std::int64_t{imgpipe::bins(sample)} * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

}  // namespace imgpipe
