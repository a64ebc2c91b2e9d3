// Where an image ends that others follow: of a stream of images nobody says how long each is.
#pragma once

#include <cstddef>
#include <span>

namespace imgpipe {

// Of one image, by its own headers and markers; nothing is decoded. Whatever the pieces are that the bytes
// come in, the end is the same.
class EndFinder {
 public:
  virtual ~EndFinder() = default;
  EndFinder(const EndFinder&) = delete;
  EndFinder& operator=(const EndFinder&) = delete;

  // `image`: all that there is from the image's first byte on, more each time; `all`: nothing comes behind
  // it. Whether its end is there; once. Takes time in proportion to what is new. Throws Error(input) where
  // the image is damaged so that no end can be found.
  [[nodiscard]] virtual bool find(std::span<const std::byte> image, bool all) = 0;

  // Behind find(): the image by itself, and with what belongs to it and is no image of its own.
  [[nodiscard]] std::size_t image_bytes() const noexcept { return image_bytes_; }
  [[nodiscard]] std::size_t taken_bytes() const noexcept { return taken_bytes_; }

  // How many of the bytes behind the image no one misses.
  [[nodiscard]] virtual std::size_t padding(std::span<const std::byte> /*behind*/) const { return 0; }
  // Whether anything may follow that is the maker's own, and no image.
  [[nodiscard]] virtual bool may_have_appendix() const { return false; }

 protected:
  EndFinder() = default;

  // The image has so many bytes: whether they are there.
  [[nodiscard]] bool ends_at(std::span<const std::byte> image, std::size_t bytes) {
    if (image.size() < bytes) return false;
    image_bytes_ = taken_bytes_ = bytes;
    return true;
  }

  std::size_t image_bytes_ = 0, taken_bytes_ = 0;
};

}  // namespace imgpipe
