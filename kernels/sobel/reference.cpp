#include "kernels/shared/window.h"
#include "kernels/sobel/sobel.h"

namespace imgpipe {
namespace {

template <class T>
T gradient_at(const Plane<const T, Host>& in, std::int64_t x, std::int64_t y, GradientNorm norm) {
  const auto at = [&](std::int64_t column, std::int64_t row) {
    return std::int64_t{in.row(reflected(row, in.height))[reflected(column, in.width)]};
  };
  const std::int64_t right = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1);
  const std::int64_t left = at(x - 1, y - 1) + 2 * at(x - 1, y) + at(x - 1, y + 1);
  const std::int64_t below = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1);
  const std::int64_t above = at(x - 1, y - 1) + 2 * at(x, y - 1) + at(x + 1, y - 1);
  return static_cast<T>(gradient(right - left, below - above, norm, kLargest<T>));
}

template <class T>
void sobel_planes(const StageCall<Host>& call) {
  const GradientNorm norm = SobelParameters(call.parameters).norm;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = gradient_at(in, x, y, norm);
    }
  }
}

}  // namespace

RowRange sobel_needs(const FrameType& in, const Parameters&, RowRange out) {
  return rows_within(in.height, 1, out);
}

void sobel_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { sobel_planes<T>(call); });
}

}  // namespace imgpipe
