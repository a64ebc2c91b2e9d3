#include "pipeline/contrast_ranges.h"

#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"

namespace imgpipe {

bool is_contrast(const Operation& operation) {
  return operation.stage->name == "contrast";
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
    const auto counts = histogram_view<Host>(outcome.histograms[counted_by].data(), operation.in);
    const bool each = parameters.stretch == Stretch::each;
    const int different = each ? planes : 1;
    for (int c = 0; c < different; ++c) {
      const StretchRange range = stretch_range(counts, parameters, c);
      ranges.push_back({plan.steps[operation.step].label, c, range.lo, range.hi, each});
    }
  }
  return ranges;
}

}  // namespace imgpipe
