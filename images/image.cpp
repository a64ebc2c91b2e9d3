#include "images/image.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kAlignment = 64;

std::int64_t first_number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = -1;
  file >> value;  // "max" (no limit) leaves the stream failed
  return file ? value : -1;
}

}  // namespace

Image::Image(Shape shape, std::pmr::memory_resource* memory) : shape_(shape), memory_(memory) {
  if (shape.width < 1 || shape.height < 1 || shape.channels < 1 || shape.channels > 4) {
    throw Error(ErrorKind::usage, "an image needs at least one pixel and 1 to 4 channels");
  }
  try {
    data_ = static_cast<Sample*>(memory_->allocate(size_bytes(), kAlignment));
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
  return static_cast<std::size_t>(shape_.samples()) * sizeof(Sample);
}

HostPlane Image::view() noexcept {
  return {data_, shape_.width, shape_.height, shape_.width * shape_.channels, shape_.channels};
}

ConstHostPlane Image::view() const noexcept {
  return {data_, shape_.width, shape_.height, shape_.width * shape_.channels, shape_.channels};
}

void Image::release() noexcept {
  if (data_ != nullptr) memory_->deallocate(data_, size_bytes(), kAlignment);
  data_ = nullptr;
}

void copy_pixels(ConstHostPlane from, HostPlane to) {
  for (std::int64_t y = 0; y < from.height; ++y) {
    std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.row_samples()) * sizeof(Sample));
  }
}

std::int64_t available_memory_bytes() {
  std::int64_t available = std::numeric_limits<std::int64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::int64_t kibibytes = 0;
  std::string unit;
  while (meminfo >> key >> kibibytes) {
    if (key == "MemAvailable:") available = kibibytes * 1024;
    std::getline(meminfo, unit);
  }
  const std::pair<const char*, const char*> groups[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_path, usage_path] : groups) {
    const std::int64_t limit = first_number_in(limit_path);
    const std::int64_t usage = first_number_in(usage_path);
    if (limit > 0 && usage >= 0) available = std::min(available, std::max<std::int64_t>(0, limit - usage));
  }
  return available;
}

}  // namespace imgpipe
