#include <algorithm>
#include <span>
#include <vector>

#include "kernels/morphology/morphology.h"
#include "kernels/shared/window.h"

namespace imgpipe {
namespace {

// Reduces the columns of the window's rows, then the window's columns. Extreme: std::ranges::min or max.
template <const auto& Extreme, class T>
void extremes_of(const Plane<const T, Host>& in, const Plane<T, Host>& out, int radius) {
  std::vector<T> line(static_cast<std::size_t>(in.width));
  for (std::int64_t y = 0; y < in.height; ++y) {
    std::copy_n(in.row(y), in.width, line.data());
    const RowRange rows = rows_within(in.height, radius, {y, y + 1});
    for (std::int64_t j = rows.first; j < rows.end; ++j) {
      for (std::int64_t x = 0; x < in.width; ++x) line[x] = Extreme(line[x], in.row(j)[x]);
    }
    for (std::int64_t x = 0; x < in.width; ++x) {
      const auto [first, end] = rows_within(in.width, radius, {x, x + 1});
      out.row(y)[x] = Extreme(std::span(line.data() + first, line.data() + end));
    }
  }
}

template <const auto& Extreme>
void extremes(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(call.in.type.color_channels); ++c)
      extremes_of<Extreme, T>(call.in.plane<T>(c), call.out.plane<T>(c), window_radius(call.parameters));
  });
}

}  // namespace

RowRange morphology_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, window_radius(parameters), out);
}

void erode_reference(const StageCall<Host>& call) {
  extremes<std::ranges::min>(call);
}

void dilate_reference(const StageCall<Host>& call) {
  extremes<std::ranges::max>(call);
}

}  // namespace imgpipe
