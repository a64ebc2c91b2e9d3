// A frame that owns its planes, in host memory.
#pragma once

#include <array>

#include "images/image.h"
#include "kernels/frame.h"

namespace imgpipe {

struct OwnedFrame {
  FrameType type;
  std::array<Image, 4> images;

  [[nodiscard]] Frame<std::byte, Host> view();
  [[nodiscard]] Frame<const std::byte, Host> view() const;
};

// Allocates the planes of a frame of this type. Throws as Image does.
[[nodiscard]] OwnedFrame make_frame(const FrameType& type);

[[nodiscard]] inline Frame<const std::byte, Host> frame_of_image(const ConstHostView& image) {
  return {frame_type_of(image.shape()), {image, {}, {}, {}}};
}

}  // namespace imgpipe
