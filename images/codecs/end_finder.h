// Finds the end of an image in a stream of images, which does not announce their lengths.
#pragma once

#include <cstddef>
#include <span>

namespace imgpipe {

// Finds the end of one image from headers and markers, without decoding, no matter how the input is chunked.
class EndFinder {
 public:
  virtual ~EndFinder() = default;
  EndFinder(const EndFinder&) = delete;
  EndFinder& operator=(const EndFinder&) = delete;

  // Returns whether the end is in `image`, which starts at the image's first byte and grows with each call;
  // must not be called after returning true. `all`: no more bytes follow. Takes time proportional to the new
  // bytes. Throws Error(input) if damage hides the end.
  [[nodiscard]] virtual bool find(std::span<const std::byte> image, bool all) = 0;

  // After find(): the size of the image, and the size including data that belongs to it.
  [[nodiscard]] std::size_t image_bytes() const noexcept { return image_bytes_; }
  [[nodiscard]] std::size_t taken_bytes() const noexcept { return taken_bytes_; }

  // The number of bytes after the image that are padding.
  [[nodiscard]] virtual std::size_t padding(std::span<const std::byte> /*after*/) const { return 0; }
  // Whether vendor data, which is not an image, may follow.
  [[nodiscard]] virtual bool may_have_trailer() const { return false; }

 protected:
  EndFinder() = default;

  // Sets the image size; returns whether `image` has all bytes.
  [[nodiscard]] bool ends_at(std::span<const std::byte> image, std::size_t bytes) {
    if (image.size() < bytes) return false;
    image_bytes_ = taken_bytes_ = bytes;
    return true;
  }

  std::size_t image_bytes_ = 0, taken_bytes_ = 0;
};

}  // namespace imgpipe
