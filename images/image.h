// Pixels that own their memory.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "images/plane.h"

namespace imgpipe {

// An image in host memory: 1 to 4 interleaved channels, samples of its shape's type, rows without padding,
// first row on a 64-byte boundary. Move-only: a copy of pixels is always written out in the code that makes
// it. The memory comes from the resource that is handed in (pinned memory later), which must outlive it.
class Image {
 public:
  Image() = default;

  // Allocates without initialising. Throws Error(usage) for a shape that is not an image (a side < 1,
  // channels outside 1..4) and Error(memory), naming the size, when the resource has no room.
  explicit Image(Shape shape, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  ~Image();
  Image(Image&& other) noexcept;
  Image& operator=(Image&& other) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] bool empty() const noexcept { return data_ == nullptr; }
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  // Its samples, whatever their type.
  [[nodiscard]] HostView untyped_view() noexcept;
  [[nodiscard]] ConstHostView untyped_view() const noexcept;
  // Those of an image of 8 bits a sample. Throws Error(usage) where they have more.
  [[nodiscard]] HostPlane view();
  [[nodiscard]] ConstHostPlane view() const;

 private:
  void release() noexcept;

  Shape shape_{0, 0, 1};
  std::byte* data_ = nullptr;
  std::pmr::memory_resource* memory_ = nullptr;
};

// Copies rows; both views must have the same shape, sample type included.
void copy_pixels(ConstHostView from, HostView to);

}  // namespace imgpipe
