// A growing array that leaves new elements uninitialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace imgpipe {

template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
class RawBuffer {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }

  // Ensures capacity for `count`, with headroom that stays within `most` if `count` does. Keeps the contents.
  void reserve(std::size_t count, std::size_t most) {
    if (count <= capacity_) return;
    const std::size_t more = capacity_ + capacity_ / 2;
    const std::size_t space = std::max(count, count <= most ? std::min(more, most) : more);
    auto larger = std::make_unique_for_overwrite<T[]>(space);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_ * sizeof(T));
    data_ = std::move(larger);
    capacity_ = space;
  }
  // The caller has written `count` elements; at most capacity().
  void set_size(std::size_t count) noexcept { size_ = count; }
  void clear() noexcept { size_ = 0; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace imgpipe
