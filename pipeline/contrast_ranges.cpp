#include "pipeline/contrast_ranges.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kernels/contrast/contrast.h"
#include "kernels/hist/hist.h"
#include "kernels/stage.h"

namespace imgpipe {

bool is_contrast(const Operation& operation) {
  return operation.stage->name == "contrast";
}

bool needs_only_extremes(const Plan& plan, const Operation& counting, CountsFor readers) {
  if (!makes_counts(*counting.stage) || is_float(counting.in.sample)) return false;
  if (readers == CountsFor::caller) return false;
  if (readers == CountsFor::timing && !counting.label.ends_with('*')) return false;
  return std::ranges::all_of(plan.operations, [&](const Operation& one) {
    if (!one.counted_by || plan.operations[*one.counted_by].label != counting.label) return true;
    if (!is_contrast(one)) return false;
    const ContrastParameters parameters(one.parameters);
    return parameters.clip_low == 0 && parameters.clip_high == 0;
  });
}

std::string no_range_text(const ContrastRange& range) {
  return range.label + (range.of_one_plane ? ", plane " + std::to_string(range.plane) + "," : "") +
         " has no range to stretch (lo " + std::to_string(range.lo) + ", hi " + std::to_string(range.hi) +
         ") and changes nothing";
}

std::vector<ContrastRange> contrast_ranges(Outcome& outcome) {
  std::vector<ContrastRange> ranges;
  const Plan& plan = outcome.plan;
  for (const Operation& operation : plan.operations) {
    if (!is_contrast(operation)) continue;
    const ContrastParameters parameters(operation.parameters);
    const int planes = operation.in.color_channels;
    const std::size_t counted_by = plan.operations[*operation.counted_by].step;
    const auto counts =
        histogram_view<Host>(outcome.histograms[counted_by].data(),
                             counted_type(*operation.stage, operation.in, operation.parameters));
    const bool each = parameters.stretch == Stretch::each;
    const int different = each ? planes : 1;
    for (int c = 0; c < different; ++c) {
      const StretchRange range = stretch_range(counts, parameters, c);
      ranges.push_back({plan.steps[operation.step].label, c, range.lo, range.hi, each});
    }
  }
  return ranges;
}

std::string outside_text(const OutsideCounts& counts) {
  const auto count = [](double limit, std::uint64_t samples) {
    std::array<char, 32> text{};
    char* const end = std::to_chars(text.data(), text.data() + text.size(), limit).ptr;
    return std::string(text.data(), end) + ": " + std::to_string(samples);
  };
  return counts.label + ", plane " + std::to_string(counts.plane) + ": below " +
         count(counts.lo, counts.below) + ", above " + count(counts.hi, counts.above) +
         ", NaN: " + std::to_string(counts.nan);
}

std::vector<OutsideCounts> outside_counts(const Outcome& outcome) {
  std::vector<OutsideCounts> all;
  const Plan& plan = outcome.plan;
  for (const Operation& operation : plan.operations) {
    if (!makes_counts(*operation.stage) || !is_float(operation.in.sample)) continue;
    const FloatBins limits = hist_bins(operation.parameters);
    const std::uint64_t* counts = outcome.histograms[operation.step].data();
    for (int c = 0; c < operation.in.color_channels; ++c, counts += operation.in.bins()) {
      all.push_back({.label = plan.steps[operation.step].label,
                     .plane = c,
                     .lo = limits.least,
                     .hi = limits.most,
                     .below = counts[0],
                     .above = counts[kFloatBins + 1],
                     .nan = counts[kFloatBins + 2]});
    }
  }
  return all;
}

}  // namespace imgpipe
