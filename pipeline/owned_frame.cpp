#include "pipeline/owned_frame.h"

namespace imgpipe {

Frame<std::byte, Host> OwnedFrame::view() {
  Frame<std::byte, Host> frame{type, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].untyped_view();
  }
  return frame;
}

Frame<const std::byte, Host> OwnedFrame::view() const {
  Frame<const std::byte, Host> frame{type, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].untyped_view();
  }
  return frame;
}

OwnedFrame make_frame(const FrameType& type) {
  OwnedFrame frame;
  frame.type = type;
  if (type.layout == Layout::interleaved) {
    frame.images[0] = Image(shape_of(type));
    return frame;
  }
  const Shape plane{type.width, type.height, 1, type.sample};
  for (std::size_t c = 0; c < static_cast<std::size_t>(type.color_channels); ++c)
    frame.images[c] = Image(plane);
  if (type.alpha) frame.images[kAlphaPlane] = Image(plane);
  return frame;
}

}  // namespace imgpipe
