#include <algorithm>
#include <vector>

#include "kernels/median/median.h"
#include "kernels/shared/window.h"

namespace imgpipe {
namespace {

template <class T>
T median_at(const Plane<const T, Host>& in, std::int64_t x, std::int64_t y, int radius,
            std::vector<T>& window) {
  window.clear();
  for (int dy = -radius; dy <= radius; ++dy) {
    const T* row = in.row(replicated(y + dy, in.height));
    for (int dx = -radius; dx <= radius; ++dx) window.push_back(row[replicated(x + dx, in.width)]);
  }
  const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
  std::nth_element(window.begin(), middle, window.end());
  return *middle;
}

template <class T>
void median_planes(const StageCall<Host>& call) {
  const int radius = MedianParameters(call.parameters).radius;
  std::vector<T> window;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = median_at(in, x, y, radius, window);
    }
  }
}

}  // namespace

RowRange median_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, MedianParameters(parameters).radius, out);
}

void median_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { median_planes<T>(call); });
}

}  // namespace imgpipe
