// Allocates the device memory of one group of images at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

// Allocates from larger blocks, which are kept for the next group. If a group needed several blocks, one of
// their total size replaces them, so that groups of similar size need no call of the driver.
class DeviceArena {
 public:
  // Limits held_bytes().
  void limit(std::size_t bytes) noexcept { max_bytes_ = bytes; }
  // The bytes of device memory in all blocks.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  // Returns memory on a 256-byte boundary, valid until reset(). Error(memory) names the needed bytes.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  // Frees everything from take() at once; queued work must no longer use it.
  void reset() noexcept;
  // Returns the blocks to the device.
  void release() noexcept;

 private:
  struct Block {
    DeviceBuffer memory;
    std::size_t bytes = 0, used = 0;
  };

  std::deque<Block> blocks_;
  std::size_t next_bytes_ = 0;  // minimum of the next block
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace imgpipe
