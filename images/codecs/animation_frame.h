// One frame of an animation, as its file describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace imgpipe {

// A rectangle of the canvas.
struct FrameArea {
  std::int64_t x = 0, y = 0, width = 0, height = 0;

  [[nodiscard]] bool covers(std::int64_t canvas_width, std::int64_t canvas_height) const {
    return x == 0 && y == 0 && width == canvas_width && height == canvas_height;
  }
  [[nodiscard]] bool is_within(std::int64_t canvas_width, std::int64_t canvas_height) const {
    return x + width <= canvas_width && y + height <= canvas_height;
  }
};

struct AnimationFrame {
  // What happens to the frame's area before the next frame is drawn.
  enum class Disposal {
    keep,
    clear,    // becomes transparent
    restore,  // becomes what it was before this frame
  };

  FrameArea area{};
  Disposal disposal = Disposal::keep;
  bool blends = false;  // is put over the canvas; otherwise it replaces its area, alpha included
  bool opaque = false;  // has no transparent pixels
  std::optional<double> duration_ms{};  // none: a still image that is not part of the animation
  std::size_t at = 0;                   // offset in the file from which its codec reads it
  std::string fault{};                  // why it cannot be decoded; empty: its header is valid
};

}  // namespace imgpipe
