#include <algorithm>
#include <cmath>

#include "kernels/hist/hist.h"

namespace imgpipe {
namespace {

template <class T>
void hist(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> plane = call.in.plane<T>(static_cast<std::size_t>(c));
    std::uint64_t* counts = call.histogram.row(c);
    std::fill_n(counts, kLargest<T> + 1, 0);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x) ++counts[plane.row(y)[x]];
    }
  }
}

// Returns the position of the count of v, by the edges themselves.
int counter_of(const FloatBins& bins, double v) {
  if (std::isnan(v)) return kFloatBins + 2;
  if (v < bins.least) return 0;
  if (v > bins.most) return kFloatBins + 1;
  int bin = 0;
  while (bin + 1 < kFloatBins && v >= bins.edge(bin + 1)) ++bin;
  return 1 + bin;
}

}  // namespace

void hist_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { hist<T>(call); });
}

void hist_f32_reference(const StageCall<Host>& call) {
  const FloatBins bins = hist_bins(call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const float, Host> plane = call.in.plane<float>(static_cast<std::size_t>(c));
    std::uint64_t* counts = call.histogram.row(c);
    std::fill_n(counts, call.histogram.width, 0);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x)
        ++counts[counter_of(bins, static_cast<double>(plane.row(y)[x]))];
    }
  }
}

}  // namespace imgpipe
