#include "kernels/shared/float_sample.h"
#include "kernels/smooth/float_taps.h"
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

template <Window W>
float smoothed_float(const Plane<const float, Host>& in, std::int64_t x, std::int64_t y, Border border) {
  constexpr Taps kWeights = window_taps(W);
  float columns[kTaps];
  int across = 0, down = 0;
  for (int i = 0; i < kTaps; ++i) {
    const std::int64_t from_x = source_of(x + i - kRadius, in.width, border);
    float column[kTaps];
    down = 0;
    for (int j = 0; j < kTaps; ++j) {
      const std::int64_t from_y = source_of(y + j - kRadius, in.height, border);
      column[j] = from_x < 0 || from_y < 0 ? 0.0F : in.row(from_y)[from_x];
      if (from_y >= 0) down += kWeights[static_cast<std::size_t>(j)];
    }
    if (from_x >= 0) across += kWeights[static_cast<std::size_t>(i)];
    columns[i] = float_taps<W>(column[0], column[1], column[2], column[3], column[4]);
  }
  return canonical(float_taps<W>(columns[0], columns[1], columns[2], columns[3], columns[4]) /
                   static_cast<float>(across * down));
}

template <Window W>
void smooth_floats(const StageCall<Host>& call, Border border) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const float, Host> in = call.in.plane<float>(static_cast<std::size_t>(c));
    const Plane<float, Host> out = call.out.plane<float>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = smoothed_float<W>(in, x, y, border);
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

void smooth_f32_reference(const StageCall<Host>& call) {
  const SmoothParameters parameters(call.parameters);
  switch (parameters.window) {
    case Window::box:
      smooth_floats<Window::box>(call, parameters.border);
      break;
    case Window::triangle:
      smooth_floats<Window::triangle>(call, parameters.border);
      break;
    case Window::gauss:
      smooth_floats<Window::gauss>(call, parameters.border);
      break;
  }
}

}  // namespace imgpipe
