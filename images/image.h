// Images that own their pixels.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "images/plane.h"

namespace imgpipe {

// An image in host memory: 1 to 4 interleaved channels, rows without padding, first row on a 64-byte
// boundary. Move-only, so that every copy of pixels is explicit. `memory` must outlive the image.
class Image {
 public:
  Image() = default;

  // Allocates without initialising. Throws Error(usage) for an invalid shape and Error(memory) on failure.
  explicit Image(Shape shape, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  ~Image();
  Image(Image&& other) noexcept;
  Image& operator=(Image&& other) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] bool empty() const noexcept { return data_ == nullptr; }
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  // The samples, of any type.
  [[nodiscard]] HostView untyped_view() noexcept;
  [[nodiscard]] ConstHostView untyped_view() const noexcept;
  // The samples of an image with 8 bits per sample. Throws Error(usage) for more bits.
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
