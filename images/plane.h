// Views of pixels in memory. A view owns nothing; who made the memory keeps it alive.
#pragma once

#include <cstdint>
#include <type_traits>

namespace imgpipe {

// One sample of one channel. 8 bits today; code that needs the width says sizeof(Sample) or kMaxSample.
using Sample = std::uint8_t;
inline constexpr int kMaxSample = 255;

// Where memory lives, as a type: a view of device memory cannot be handed to host code.
struct Host {};
struct Device {};

// Width and height in pixels, channels per pixel (1 grey, 2 grey+alpha, 3 RGB, 4 RGBA).
struct Shape {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;

  [[nodiscard]] constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] constexpr std::int64_t samples() const { return width * height * channels; }
  [[nodiscard]] constexpr bool has_alpha() const { return channels == 2 || channels == 4; }
  [[nodiscard]] constexpr int color_channels() const { return channels - (has_alpha() ? 1 : 0); }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

// A rectangle of pixels with interleaved channels; one channel makes it a plane in the strict sense.
//
//   data                                  row 0: c0 c1 c2 c0 c1 c2 ... (width * channels samples) | padding
//   data + stride                         row 1: ...
//
// stride counts samples from one row to the next (>= width * channels); padding is never read or written.
template <class T, class Where>
struct Plane {
  T* data = nullptr;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t stride = 0;
  int channels = 1;

  [[nodiscard]] constexpr T* row(std::int64_t y) const { return data + y * stride; }
  [[nodiscard]] constexpr std::int64_t row_samples() const { return width * channels; }
  [[nodiscard]] constexpr Shape shape() const { return {width, height, channels}; }
  [[nodiscard]] constexpr bool empty() const { return data == nullptr; }

  // The band of `count` rows that starts at row `first`; 0 <= first, first + count <= height.
  [[nodiscard]] constexpr Plane rows(std::int64_t first, std::int64_t count) const {
    return {row(first), width, count, stride, channels};
  }

  // Reading through a view of writable memory needs no cast.
  // NOLINTNEXTLINE(google-explicit-constructor)
  template <class U = T>
  requires(!std::is_const_v<U>) constexpr operator Plane<const U, Where>() const {
    return {data, width, height, stride, channels};
  }
};

using HostPlane = Plane<Sample, Host>;
using ConstHostPlane = Plane<const Sample, Host>;

}  // namespace imgpipe
