#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

// The first of those that part best; 0 where nothing can be parted.
int otsu_value(const std::uint64_t* counts) {
  std::uint64_t pixels = 0;
  std::uint64_t sum = 0;
  for (unsigned v = 0; v < kBins; ++v) {
    pixels += counts[v];
    sum += v * counts[v];
  }
  const double one = 1.0 / static_cast<double>(pixels);  // a sample's share
  const double mean = static_cast<double>(sum) * one;
  OtsuClass below{0, 0};
  double most = 0;
  int best = 0;
  for (int v = 0; v < kBins; ++v) {
    if (!otsu_take(below, v, static_cast<double>(counts[v]) * one)) continue;
    const double variance = otsu_variance(below, mean);
    if (variance > most) {
      most = variance;
      best = v;
    }
  }
  return best;
}

}  // namespace

bool threshold_reads_histogram(const Parameters& parameters) {
  return ThresholdParameters(parameters).at == kOtsu;
}

int threshold_of(const ThresholdParameters& parameters, const Histogram<Host>& histogram, int c) {
  return parameters.at == kOtsu ? otsu_value(histogram.row(c)) : parameters.at;
}

void threshold_reference(const StageCall<Host>& call) {
  const ThresholdParameters parameters(call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const int at = threshold_of(parameters, call.histogram, c);
    const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
    const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = in.row(y)[x] > at ? kMaxSample : 0;
    }
  }
}

}  // namespace imgpipe
