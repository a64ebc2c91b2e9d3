// An image as the stages see it: one set of interleaved pixels, or one plane a channel.
#pragma once

#include <array>
#include <cstdint>

#include "images/plane.h"

namespace imgpipe {

// interleaved: planes[0] holds colour and alpha together, as files do.
// planar:      planes[0] is grey, or planes[0..2] are R, G, B; planes[3] is alpha.
// Grey without alpha is always planar: the bytes are the same, so nothing needs to move.
enum class Layout { interleaved, planar };

struct FrameShape {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int color_channels = 1;  // 1 or 3
  bool alpha = false;
  Layout layout = Layout::planar;

  [[nodiscard]] constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] constexpr std::int64_t color_samples() const { return pixels() * color_channels; }
  [[nodiscard]] constexpr int channels() const { return color_channels + (alpha ? 1 : 0); }
  friend constexpr bool operator==(const FrameShape&, const FrameShape&) = default;
};

inline constexpr std::size_t kAlphaPlane = 3;

// The frame of an image as it is read from a file.
[[nodiscard]] constexpr FrameShape frame_shape_of(const Shape& shape) {
  const Layout layout = shape.channels == 1 ? Layout::planar : Layout::interleaved;
  return {shape.width, shape.height, shape.color_channels(), shape.has_alpha(), layout};
}

// The plane of a planar frame that holds channel c of an interleaved pixel: alpha comes last there.
[[nodiscard]] constexpr std::size_t plane_of_channel(const FrameShape& shape, int c) {
  return c == shape.color_channels ? kAlphaPlane : static_cast<std::size_t>(c);
}

// Views of a frame's planes; those that the layout does not use are empty. Owns nothing.
template <class T, class Where>
struct Frame {
  FrameShape shape;
  std::array<Plane<T, Where>, 4> planes;
};

// Counts of samples: row c holds the kBins counters of colour plane c.
template <class Where>
using Histogram = Plane<std::uint64_t, Where>;

}  // namespace imgpipe
