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

template <class T>
void top_hat_of(const Plane<const T, Host>& in, const Plane<T, Host>& out, int radius, TopHat kind) {
  std::vector<T> samples(static_cast<std::size_t>(in.width * in.height));
  const Plane<T, Host> half{samples.data(), in.width, in.height, in.width};
  const bool white = kind == TopHat::white;
  (white ? extremes_of<std::ranges::min, T> : extremes_of<std::ranges::max, T>)(in, half, radius);
  (white ? extremes_of<std::ranges::max, T> : extremes_of<std::ranges::min, T>)(half, out, radius);
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      const int rise = in.row(y)[x] - out.row(y)[x];
      out.row(y)[x] = static_cast<T>(white ? rise : -rise);
    }
  }
}

}  // namespace

RowRange tophat_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, 2 * window_radius(parameters), out);
}

std::int64_t tophat_scratch_bytes(const FrameType& in, const Parameters&) {
  return std::int64_t{2} * in.color_channels * in.height * top_hat_stride_bytes(in);
}

RowRange morphology_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return rows_within(in.height, window_radius(parameters), out);
}

void erode_reference(const StageCall<Host>& call) {
  extremes<std::ranges::min>(call);
}

void dilate_reference(const StageCall<Host>& call) {
  extremes<std::ranges::max>(call);
}

void tophat_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(call.in.type.color_channels); ++c)
      top_hat_of<T>(call.in.plane<T>(c), call.out.plane<T>(c), window_radius(call.parameters),
                    top_hat_kind(call.parameters));
  });
}

}  // namespace imgpipe
