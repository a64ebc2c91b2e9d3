// Views of pixels in memory. A view owns nothing; the owner of the memory must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "images/sample.h"

namespace imgpipe {

// The location of memory, as a type: a view of device memory cannot be passed to host code.
struct Host {};
struct Device {};

// The maximum width or height of an image in pixels.
inline constexpr std::int64_t kMaxSide = std::numeric_limits<std::int32_t>::max();

// Width and height in pixels, channels per pixel (1 grey, 2 grey+alpha, 3 RGB, 4 RGBA).
struct Shape {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Sample sample = Sample::u8;

  [[nodiscard]] constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] constexpr std::int64_t samples() const { return width * height * channels; }
  [[nodiscard]] constexpr std::int64_t row_bytes() const {
    return width * channels * bytes_per_sample(sample);
  }
  [[nodiscard]] constexpr std::int64_t bytes() const { return height * row_bytes(); }
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
  [[nodiscard]] constexpr Shape shape() const { return {width, height, channels, sample_type_of<T>}; }
  [[nodiscard]] constexpr bool empty() const { return data == nullptr; }

  // The band of `count` rows that starts at row `first`; 0 <= first, first + count <= height.
  [[nodiscard]] constexpr Plane rows(std::int64_t first, std::int64_t count) const {
    return {row(first), width, count, stride, channels};
  }

  // A view of writable memory converts implicitly to a read-only view.
  // NOLINTNEXTLINE(google-explicit-constructor)
  template <class U = T>
  requires(!std::is_const_v<U>) constexpr operator Plane<const U, Where>() const {
    return {data, width, height, stride, channels};
  }
};

// The same rectangle with a sample type known only at run time; readers, writers, frames and copies pass it
// around. `Byte` is std::byte or const std::byte. as<T>() is the typed view that a kernel works on; the
// caller must have checked `sample` (engines do, before they call a stage).
template <class Byte, class Where>
struct View {
  Byte* data = nullptr;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t stride_bytes = 0;  // from one row to the next; a multiple of the sample's size
  int channels = 1;
  Sample sample = Sample::u8;

  constexpr View() = default;
  constexpr View(Byte* bytes, const Shape& shape, std::int64_t stride)
      : data(bytes),
        width(shape.width),
        height(shape.height),
        stride_bytes(stride),
        channels(shape.channels),
        sample(shape.sample) {}
  // Converts from a typed view, or from a view of writable memory.
  template <class T>
  requires(SampleElement<T> && (std::is_const_v<Byte> || !std::is_const_v<T>))
      View(const Plane<T, Where>& plane)  // NOLINT(google-explicit-constructor)
      : View(reinterpret_cast<Byte*>(plane.data), plane.shape(),
             plane.stride * static_cast<std::int64_t>(sizeof(T))) {}
  template <class Other = std::remove_const_t<Byte>>
  requires(std::is_const_v<Byte>) constexpr View(
      const View<Other, Where>& view)  // NOLINT(google-explicit-constructor)
      : View(view.data, view.shape(), view.stride_bytes) {}

  [[nodiscard]] constexpr bool empty() const { return data == nullptr; }
  [[nodiscard]] constexpr Shape shape() const { return {width, height, channels, sample}; }
  [[nodiscard]] constexpr std::int64_t row_bytes() const { return shape().row_bytes(); }
  [[nodiscard]] constexpr std::int64_t bytes() const { return shape().bytes(); }
  [[nodiscard]] constexpr Byte* row(std::int64_t y) const { return data + y * stride_bytes; }
  // The band of `count` rows that starts at row `first`; 0 <= first, first + count <= height.
  [[nodiscard]] constexpr View rows(std::int64_t first, std::int64_t count) const {
    return {row(first), {width, count, channels, sample}, stride_bytes};
  }

  template <SampleElement T>
  [[nodiscard]] constexpr bool holds() const {
    return sample == sample_type_of<T>;
  }
  template <SampleElement T>
  [[nodiscard]] auto as() const {
    using Typed = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return Plane<Typed, Where>{reinterpret_cast<Typed*>(data), width, height,
                               stride_bytes / static_cast<std::int64_t>(sizeof(T)), channels};
  }
};

using HostView = View<std::byte, Host>;
using ConstHostView = View<const std::byte, Host>;

using HostPlane = Plane<Sample8, Host>;
using ConstHostPlane = Plane<const Sample8, Host>;

}  // namespace imgpipe
