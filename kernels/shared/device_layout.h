#pragma once

#include <cstdint>

#include "images/rounded_up.h"

namespace imgpipe {

// Lays out arrays in one allocation of device memory, each at a multiple of 256 bytes.
class DeviceLayout {
 public:
  std::uint64_t take(std::uint64_t count, std::uint64_t bytes = 1) {
    const std::uint64_t at = end_;
    end_ = rounded_up(end_ + count * bytes, kAlignment);
    return at;
  }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  static constexpr std::uint64_t kAlignment = 256;
  std::uint64_t end_ = 0;
};

}  // namespace imgpipe
