#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/hist/hist.h"

namespace imgpipe {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float least_from(double edge) {
  const auto near = static_cast<float>(edge);
  return static_cast<double>(near) < edge ? std::nextafter(near, kInfinity) : near;
}

float least_above(double edge) {
  const auto near = static_cast<float>(edge);
  return static_cast<double>(near) <= edge ? std::nextafter(near, kInfinity) : near;
}

}  // namespace

FloatBins hist_bins(const Parameters& parameters) {
  return {.least = parameters.real(0), .most = parameters.real(1)};
}

std::string_view hist_problem(const Parameters& parameters) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto [lo, hi, count] = hist_bins(parameters);
  if (lo < -kMost || hi > kMost) return "lo and hi must be within the range of 32-bit floats";
  return lo < hi ? "" : "lo must be less than hi";
}

std::string_view hist_infer(const FrameType& in, const Parameters& parameters, FrameType&) {
  const FloatBins bins = hist_bins(parameters), preset;
  if (is_float(in.sample) || (bins.least == preset.least && bins.most == preset.most)) return "";
  return "integers are counted by value; remove the limits, or insert depth:float before it";
}

std::int64_t hist_table_bytes(const FrameType& in, const Parameters&) {
  return is_float(in.sample) ? kThresholds * static_cast<std::int64_t>(sizeof(float)) : 0;
}

void hist_table(const StageCall<Host>& call, const Band&) {
  const FloatBins bins = hist_bins(call.parameters);
  auto* const thresholds = call.table.as<float>();
  std::fill_n(thresholds, kThresholds, std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < kFloatBins; ++i) thresholds[i] = least_from(bins.edge(i));
  thresholds[kFloatBins] = least_above(bins.most);
}

void hist_f32_cpu(const StageCall<Host>& call, const Band& band) {
  const auto* const thresholds = call.table.as<const float>();
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const float, Host> plane = call.in.plane<float>(static_cast<std::size_t>(c));
    std::uint64_t* const counts = call.histogram.row(c);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const float* const row = plane.row(y - band.in_top);
      for (std::int64_t x = 0; x < plane.width; ++x) ++counts[float_counter(thresholds, row[x])];
    }
  }
}

}  // namespace imgpipe
