// Device memory for one group of images after the other.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

// Memory in blocks, released together. Blocks stay for the next group; what took several comes
// in one from then on, so that groups of about one size cost no call of the driver.
class DeviceArena {
 public:
  // Limits the bytes allocated on the device from now on.
  void limit(std::size_t bytes) noexcept { max_bytes_ = bytes; }
  // Bytes allocated on the device.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  // Returns `bytes` bytes on a 256-byte boundary, valid until reset(). Throws Error(memory) that states the
  // bytes needed.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  // Everything that was taken is free again. Nothing may work on it any more.
  void reset() noexcept;
  // Gives the blocks back to the device.
  void release() noexcept;

 private:
  struct Block {
    DeviceBuffer memory;
    std::size_t bytes = 0, used = 0;
  };

  std::deque<Block> blocks_;
  std::size_t next_bytes_ = 0;  // of the next block, at least
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace imgpipe
