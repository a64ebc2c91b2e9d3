#include "pipeline/statistics/series_range.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>

#include "images/error.h"
#include "pipeline/statistics/exact.h"

namespace imgpipe {
namespace {

// Adds up the channels on the scale of the one with the most bins.
std::vector<Uint128> added_up(std::span<const std::vector<std::uint64_t>> channels) {
  std::size_t bins = 0;
  for (const auto& counts : channels) bins = std::max(bins, counts.size());
  std::vector<Uint128> sums(bins);
  for (const auto& counts : channels) {
    const std::size_t unit = (bins - 1) / (counts.size() - 1);
    for (std::size_t bin = 0; bin < counts.size(); ++bin) sums[bin * unit] += counts[bin];
  }
  return sums;
}

// Finds lo and hi by the rule of contrast (docs/pixels.md).
StretchRange range_of(const std::vector<Uint128>& counts, const ContrastParameters& parameters) {
  Uint128 samples = 0;
  for (const Uint128 count : counts) samples += count;
  if (samples == 0) throw Error(ErrorKind::input, "all counts are zero");
  const auto clipped_count = [samples](MicroPercent share) {
    return samples * static_cast<std::uint64_t>(share) / (100 * static_cast<Uint128>(kOnePercent));
  };
  const int last = static_cast<int>(counts.size()) - 1;
  StretchRange range{0, last};
  Uint128 below = counts.front();
  while (below <= clipped_count(parameters.clip_low) && range.lo < last)
    below += counts[static_cast<std::size_t>(++range.lo)];
  Uint128 above = counts.back();
  while (above <= clipped_count(parameters.clip_high) && range.hi > 0)
    above += counts[static_cast<std::size_t>(--range.hi)];
  return range;
}

}  // namespace

StageRequest levels_of_series(std::span<const std::vector<std::uint64_t>> channels,
                              const ContrastParameters& parameters) {
  const std::vector<Uint128> counts = added_up(channels);
  if (counts.empty()) throw Error(ErrorKind::input, "contains no counts of colours");
  const StretchRange range = range_of(counts, parameters);
  StageRequest levels =
      std::move(parse_stages(counts.size() > 256 ? "levels:0:1:16" : "levels:0:1:8").front());
  // Set directly: parse_stages() rejects an empty range.
  levels.parameters.values[0] = std::bit_cast<std::int64_t>(static_cast<double>(range.lo));
  levels.parameters.values[1] = std::bit_cast<std::int64_t>(static_cast<double>(range.hi));
  levels.said.replace(0, 4, ":" + std::to_string(range.lo) + ":" + std::to_string(range.hi));
  return levels;
}

StretchRange series_range(const StageRequest& levels) {
  return {static_cast<int>(levels.parameters.real(0)), static_cast<int>(levels.parameters.real(1))};
}

bool has_no_range(const StageRequest& levels) {
  const StretchRange range = series_range(levels);
  return range.hi <= range.lo;
}

}  // namespace imgpipe
