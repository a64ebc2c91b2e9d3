#include "images/image.h"

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kAlignment = 64;

void require_8_bits(const ConstHostView& view) {
  if (!view.holds<Sample8>())
    throw Error(ErrorKind::usage, "8-bit view of an image with " +
                                      std::to_string(8 * bytes_per_sample(view.sample)) + " bits per sample");
}

}  // namespace

Image::Image(Shape shape, std::pmr::memory_resource* memory) : shape_(shape), memory_(memory) {
  if (shape.width < 1 || shape.height < 1 || shape.channels < 1 || shape.channels > 4) {
    throw Error(ErrorKind::usage, "an image needs at least one pixel and 1 to 4 channels");
  }
  try {
    data_ = static_cast<std::byte*>(memory_->allocate(size_bytes(), kAlignment));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory: " + std::to_string(size_bytes()) + " bytes needed");
  }
}

Image::~Image() {
  release();
}

Image::Image(Image&& other) noexcept
    : shape_(std::exchange(other.shape_, Shape{0, 0, 1})),
      data_(std::exchange(other.data_, nullptr)),
      memory_(other.memory_) {}

Image& Image::operator=(Image&& other) noexcept {
  if (this != &other) {
    release();
    shape_ = std::exchange(other.shape_, Shape{0, 0, 1});
    data_ = std::exchange(other.data_, nullptr);
    memory_ = other.memory_;
  }
  return *this;
}

std::size_t Image::size_bytes() const noexcept {
  return static_cast<std::size_t>(shape_.bytes());
}

HostView Image::untyped_view() noexcept {
  return {data_, shape_, shape_.row_bytes()};
}

ConstHostView Image::untyped_view() const noexcept {
  return {data_, shape_, shape_.row_bytes()};
}

HostPlane Image::view() {
  require_8_bits(untyped_view());
  return untyped_view().as<Sample8>();
}

ConstHostPlane Image::view() const {
  require_8_bits(untyped_view());
  return untyped_view().as<Sample8>();
}

void Image::release() noexcept {
  if (data_ != nullptr) memory_->deallocate(data_, size_bytes(), kAlignment);
  data_ = nullptr;
}

void copy_pixels(ConstHostView from, HostView to) {
  for (std::int64_t y = 0; y < from.height; ++y)
    std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.row_bytes()));
}

}  // namespace imgpipe
