#include "kernels/smooth/smooth.h"

namespace imgpipe {
namespace {

template <class T>
T smoothed(const Plane<const T, Host>& in, std::int64_t x, std::int64_t y, const Taps& taps, Border border) {
  std::uint32_t sum = 0;
  std::uint32_t weights = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    const std::int64_t from_y = source_of(y + dy, in.height, border);
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const std::int64_t from_x = source_of(x + dx, in.width, border);
      if (from_x < 0 || from_y < 0) continue;
      const auto weight = static_cast<std::uint32_t>(taps[static_cast<std::size_t>(dy + kRadius)] *
                                                     taps[static_cast<std::size_t>(dx + kRadius)]);
      sum += weight * in.row(from_y)[from_x];
      weights += weight;
    }
  }
  return weighted_mean<T>(sum, weights);
}

template <class T>
void smooth(const StageCall<Host>& call) {
  const SmoothParameters parameters(call.parameters);
  const Taps taps = window_taps(parameters.window);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        out.row(y)[x] = smoothed(in, x, y, taps, parameters.border);
      }
    }
  }
}

}  // namespace

RowRange smooth_needs(const FrameType& in, const Parameters&, RowRange out) {
  return rows_within(in.height, kRadius, out);
}

void smooth_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { smooth<T>(call); });
}

}  // namespace imgpipe
