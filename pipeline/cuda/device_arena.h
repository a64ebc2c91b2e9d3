// Allocates the device memory of one group of images at a time, and keeps copies of large tables for the
// next.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <optional>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

// Allocates from larger blocks, which are kept for the next group. If a group needed several blocks, one of
// their total size replaces them, so that groups of similar size need no call of the driver.
class DeviceArena {
 public:
  // Limits held_bytes().
  void limit(std::size_t bytes) noexcept { max_bytes_ = bytes; }
  // The bytes of device memory in all blocks and kept copies.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  // Returns memory on a 256-byte boundary, valid until reset(). Error(memory) names the needed bytes.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  // Returns the kept copy of an object on the host, for use by this group; nullptr: there is none.
  [[nodiscard]] std::byte* kept(const std::shared_ptr<const void>& original);
  // Returns memory for a copy, which the caller fills and gives to keep(); nullopt: only take() may succeed.
  [[nodiscard]] std::optional<DeviceBuffer> reserve(std::size_t bytes);
  // Keeps a copy while the original exists and its memory is not needed for a group that does not use it.
  std::byte* keep(const std::shared_ptr<const void>& original, DeviceBuffer copy);
  // Frees everything from take() at once, and the copies whose originals no longer exist; queued work must no
  // longer use them.
  void reset() noexcept;
  // Returns all memory to the device.
  void release() noexcept;

 private:
  struct KeptCopy {
    std::weak_ptr<const void> original;
    DeviceBuffer memory;
    bool is_in_use = true;  // by the current group
  };
  struct Block {
    DeviceBuffer memory;
    std::size_t bytes = 0, used = 0;
  };

  [[nodiscard]] std::size_t left_bytes() const noexcept;
  // Frees the copies that the current group does not use; returns whether there were any.
  bool drop_unused() noexcept;

  std::deque<Block> blocks_;
  std::list<KeptCopy> kept_;
  std::size_t next_bytes_ = 0;  // minimum of the next block
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace imgpipe
