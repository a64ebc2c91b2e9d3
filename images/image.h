// Pixels that own their memory.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "images/plane.h"

namespace imgpipe {

// An image in host memory: 1 to 4 interleaved 8-bit channels, rows without padding, first row on a
// 64-byte boundary. Move-only: a copy of pixels is always written out in the code that makes it.
// The memory comes from the resource that is handed in (pinned memory later), which must outlive it.
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
  [[nodiscard]] HostPlane view() noexcept;
  [[nodiscard]] ConstHostPlane view() const noexcept;

 private:
  void release() noexcept;

  Shape shape_{0, 0, 1};
  Sample* data_ = nullptr;
  std::pmr::memory_resource* memory_ = nullptr;
};

// Copies rows sample by sample; both views must have the same shape.
void copy_pixels(ConstHostPlane from, HostPlane to);

}  // namespace imgpipe
