// A second image over the image, which keeps its size: Porter and Duff's "over" (Compositing Digital Images,
// SIGGRAPH 1984) with the second image's alpha times an opacity. Quotients are rounded half up.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/second_image.h"
#include "kernels/shared/over.h"

namespace imgpipe {

// Row by row, from the left.
enum class OverPosition : std::uint8_t {
  northwest,
  north,
  northeast,
  west,
  center,
  east,
  southwest,
  south,
  southeast
};

struct OverParameters {
  explicit constexpr OverParameters(const Parameters& values)
      : position(values.as<OverPosition>(1)), x(values[2]), y(values[3]), opacity(values[4]) {}
  OverPosition position;
  std::int64_t x, y;     // inwards from the position's edges; right and down from a centre
  std::int64_t opacity;  // in millionths
};

// Returns the offset of `size` pixels in a side of `of` pixels; part 0 begins at its start, 1 at its middle,
// 2 ends at its end. As ImageMagick 7 (GravityAdjustGeometry), which rounds the middle towards zero.
[[nodiscard]] constexpr std::int64_t over_offset(int part, std::int64_t inwards, std::int64_t size,
                                                 std::int64_t of) {
  return part == 0 ? inwards : part == 1 ? (of - size + 2 * inwards) / 2 : of - size - inwards;
}
static_assert(over_offset(1, 0, 3, 8) == 2 && over_offset(1, 0, 8, 3) == -2 && over_offset(2, 1, 3, 8) == 4);

// Pixel (x, y) of the image is pixel (x - left, y - top) of the second image, for columns first_x..end_x-1
// and rows first_y..end_y-1, which are inside both.
struct Overlay {
  std::int64_t left = 0, top = 0;
  std::int64_t first_x = 0, end_x = 0, first_y = 0, end_y = 0;
};

[[nodiscard]] constexpr Overlay overlay_of(const FrameType& in, const FrameType& second,
                                           const Parameters& parameters) {
  const OverParameters over(parameters);
  const int part = static_cast<int>(over.position);
  Overlay at{over_offset(part % 3, over.x, second.width, in.width),
             over_offset(part / 3, over.y, second.height, in.height)};
  at.first_x = std::clamp<std::int64_t>(at.left, 0, in.width);
  at.end_x = std::clamp<std::int64_t>(at.left + second.width, 0, in.width);
  at.first_y = std::clamp<std::int64_t>(at.top, 0, in.height);
  at.end_y = std::clamp<std::int64_t>(at.top + second.height, 0, in.height);
  return at;
}

// Returns the second image's alpha plane; one without data if it is opaque.
template <class T, class Where>
[[nodiscard]] Plane<const T, Where> second_alpha_plane(const StageCall<Where>& call) {
  const FrameType& type = call.parameters.image->type;
  return type.alpha ? second_plane<T>(call, type.color_channels) : Plane<const T, Where>{};
}

template <class T>
IMGPIPE_HOST_DEVICE constexpr T with_opacity(T alpha, std::int64_t opacity) {
  return static_cast<T>((alpha * opacity + kDecimalOne / 2) / kDecimalOne);
}
static_assert(with_opacity<Sample8>(255, 500'000) == 128 && with_opacity<Sample8>(254, kDecimalOne) == 254);

// Returns the colour of s with `alpha` over v with `below`. The alpha of the result, and the colour over an
// opaque v, are those of over(): over(white, alpha, below) and over(s, alpha, v).
template <class T>
IMGPIPE_HOST_DEVICE constexpr T over_translucent(T s, T alpha, T v, T below) {
  using Sum = std::conditional_t<kIsWide<T>, std::uint64_t, std::uint32_t>;
  constexpr Sum kWhite = kLargest<T>;
  const Sum upper = kWhite * alpha, lower = below * (kWhite - alpha);
  const Sum sum = upper + lower;
  return sum == 0 ? v : static_cast<T>((2 * (s * upper + v * lower) + sum) / (2 * sum));
}
static_assert(over_translucent<Sample8>(200, 0, 3, 0) == 3 && over_translucent<Sample8>(200, 0, 3, 9) == 3);
static_assert(over_translucent<Sample8>(200, 1, 3, 0) == 200);
static_assert(over_translucent<Sample8>(1, 128, 0, 255) == over<Sample8>(1, 128, 0));
static_assert(over_translucent<Sample16>(65535, 65535, 0, 65535) == 65535);

// Skips an opacity of 0.
[[nodiscard]] std::string_view over_skip_reason(const FrameType& in, const Parameters& parameters);

// in, out: planar, same shape; the second image has the same samples.
void over_reference(const StageCall<Host>& call);

void over_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus over_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
