// The data passed between two steps: the type of a frame, and views of its planes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "images/plane.h"

namespace imgpipe {

// interleaved: planes[0] holds colour and alpha, as in files.
// planar:      planes[0] is grey, or planes[0..2] are R, G, B; planes[3] is alpha.
// Grey without alpha is always planar: the bytes are the same.
enum class Layout : std::uint8_t { interleaved, planar };

// The counters of a plane: one per value of integers. Floats: the count below the limits, those of kFloatBins
// equal bins, the count above, and that of NaN (kernels/hist/float_bins.h).
inline constexpr int kFloatBins = 256;
[[nodiscard]] constexpr int counters_of(Sample sample) {
  return is_float(sample) ? kFloatBins + 3 : bins(sample);
}

// Determines the memory layout of a frame.
struct FrameType {
  std::int64_t width = 0;   // pixels
  std::int64_t height = 0;  // rows
  int color_channels = 1;   // 1 or 3
  bool alpha = false;
  Layout layout = Layout::planar;
  Sample sample = Sample::u8;

  [[nodiscard]] constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] constexpr int channels() const { return color_channels + (alpha ? 1 : 0); }
  // Return the size in bytes of one plane, of the colour planes, and of all planes.
  [[nodiscard]] constexpr std::int64_t plane_bytes() const { return pixels() * bytes_per_sample(sample); }
  [[nodiscard]] constexpr std::int64_t color_bytes() const { return plane_bytes() * color_channels; }
  [[nodiscard]] constexpr std::int64_t bytes() const { return plane_bytes() * channels(); }
  [[nodiscard]] constexpr std::int64_t bins() const { return counters_of(sample); }
  friend constexpr bool operator==(const FrameType&, const FrameType&) = default;
};

inline constexpr std::size_t kAlphaPlane = 3;

[[nodiscard]] constexpr FrameType frame_type_of(const Shape& shape) {
  const Layout layout = shape.channels == 1 ? Layout::planar : Layout::interleaved;
  return {shape.width, shape.height, shape.color_channels(), shape.has_alpha(), layout, shape.sample};
}

// The image shape of an interleaved frame.
[[nodiscard]] constexpr Shape shape_of(const FrameType& type) {
  return {type.width, type.height, type.channels(), type.sample};
}

// Rows first..end-1.
struct RowRange {
  std::int64_t first = 0, end = 0;

  [[nodiscard]] constexpr std::int64_t count() const { return end - first; }
  friend constexpr bool operator==(const RowRange&, const RowRange&) = default;
};

// The plane of a planar frame that holds channel c of an interleaved pixel; alpha is the last channel.
[[nodiscard]] constexpr std::size_t plane_of_channel(const FrameType& type, int c) {
  return c == type.color_channels ? kAlphaPlane : static_cast<std::size_t>(c);
}

// Views of a frame's planes; unused ones are empty. `Byte` is std::byte or const std::byte. The planes may
// hold only some rows of the frame; a Band then specifies them.
template <class Byte, class Where>
struct Frame {
  FrameType type;
  std::array<View<Byte, Where>, 4> planes;

  template <class T>
  [[nodiscard]] auto plane(std::size_t i) const {
    return planes[i].template as<T>();
  }
  // A frame of writable memory converts implicitly to a read-only one.
  template <class Other = std::remove_const_t<Byte>>
  requires(!std::is_const_v<Byte>) operator Frame<const Other, Where>()
      const {  // NOLINT(google-explicit-constructor)
    return {type, {planes[0], planes[1], planes[2], planes[3]}};
  }
};

// Return an interleaved frame without alpha as a grey one, `channels` times as wide.
[[nodiscard]] constexpr FrameType as_one_plane(FrameType type) {
  type.width *= type.channels();
  type.color_channels = 1;
  type.layout = Layout::planar;
  return type;
}
template <class Byte, class Where>
[[nodiscard]] Frame<Byte, Where> as_one_plane(Frame<Byte, Where> frame) {
  View<Byte, Where>& plane = frame.planes[0];
  plane.width *= plane.channels;
  plane.channels = 1;
  frame.type = as_one_plane(frame.type);
  return frame;
}

// Counts of samples: row c holds the counters of colour plane c.
template <class Where>
using Histogram = Plane<std::uint64_t, Where>;

[[nodiscard]] constexpr std::size_t counters(const FrameType& type) {
  return static_cast<std::size_t>(type.bins() * type.color_channels);
}
template <class Where>
[[nodiscard]] constexpr Histogram<Where> histogram_view(std::uint64_t* counts, const FrameType& type) {
  return {counts, type.bins(), type.color_channels, type.bins(), 1};
}

}  // namespace imgpipe
