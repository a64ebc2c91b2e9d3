#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

// Returns the first of the best values; 0 if no value parts the histogram.
int otsu_value(const std::uint64_t* counts, int bins) {
  std::uint64_t pixels = 0;
  std::uint64_t sum = 0;
  for (int v = 0; v < bins; ++v) {
    pixels += counts[v];
    sum += static_cast<std::uint64_t>(v) * counts[v];
  }
  const double one = 1.0 / static_cast<double>(pixels);  // a sample's share
  const double mean = static_cast<double>(sum) * one;
  OtsuClass below{0, 0};
  double most = 0;
  int best = 0;
  for (int v = 0; v < bins; ++v) {
    if (!otsu_add(below, v, static_cast<double>(counts[v]) * one)) continue;
    const double variance = otsu_variance(below, mean);
    if (variance > most) {
      most = variance;
      best = v;
    }
  }
  return best;
}

template <class T>
void threshold(const StageCall<Host>& call) {
  const ThresholdParameters parameters(call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const int at = threshold_of(parameters, call.histogram, c);
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = in.row(y)[x] > at ? kLargest<T> : 0;
    }
  }
}

}  // namespace

bool threshold_reads_counts(const Parameters& parameters) {
  return ThresholdParameters(parameters).at == kOtsu;
}

std::string_view threshold_infer(const FrameType& in, const Parameters& parameters, FrameType&) {
  const bool fits = ThresholdParameters(parameters).at <= max_sample(in.sample);
  return fits ? "" : "its samples have 8 bits; use 0 to 255, or depth:16 before it";
}

int threshold_of(const ThresholdParameters& parameters, const Histogram<Host>& histogram, int c) {
  return parameters.at == kOtsu ? otsu_value(histogram.row(c), static_cast<int>(histogram.width))
                                : parameters.at;
}

std::int64_t threshold_table_bytes(const FrameType& in, const Parameters&) {
  return in.color_channels * static_cast<std::int64_t>(sizeof(int));
}

void threshold_table(const StageCall<Host>& call, const Band&) {
  for (int c = 0; c < call.in.type.color_channels; ++c)
    call.table.as<int>()[c] = threshold_of(ThresholdParameters(call.parameters), call.histogram, c);
}

void threshold_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { threshold<T>(call); });
}

}  // namespace imgpipe
