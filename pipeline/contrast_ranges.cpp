#include "pipeline/contrast_ranges.h"

#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"

namespace imgpipe {

bool is_contrast(const Step& step) {
  return (step.parts.empty() ? step : step.parts.front()).stage->name == "contrast";
}

std::string no_range_text(const ContrastRange& range) {
  return range.label + (range.of_one_plane ? ", plane " + std::to_string(range.plane) + "," : "") +
         " has no range to stretch (lo " + std::to_string(range.lo) + ", hi " + std::to_string(range.hi) +
         ") and changes nothing";
}

std::vector<ContrastRange> contrast_ranges(Outcome& outcome) {
  std::vector<ContrastRange> ranges;
  for (const Step& step : outcome.plan.steps) {
    if (!is_contrast(step)) continue;
    const ContrastParameters parameters(step.parameters);
    const int planes = step.in.color_channels;
    const auto counts = histogram_view<Host>(outcome.histograms[*step.counted_by].data(), step.in);
    const bool each = parameters.stretch == Stretch::each;
    const int different = each ? planes : 1;
    for (int c = 0; c < different; ++c) {
      const StretchRange range = stretch_range(counts, parameters, c);
      ranges.push_back({step.label, c, range.lo, range.hi, each});
    }
  }
  return ranges;
}

}  // namespace imgpipe
