// Page-locked host memory, which CUDA devices copy at full speed.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory_resource>
#include <mutex>
#include <utility>
#include <vector>

namespace imgpipe {

// Keeps freed blocks for later requests of about the same size, because pinned memory is expensive to
// allocate: cudaHostAlloc took 6.5 to 12 ms for 27 MB on an H200's host (2026-11-21, Linux 6.18). Blocks are
// ordinary memory in huge pages, which takes 3.1 ms to touch (small pages: 11 to 12 ms); cudaHostRegister
// then pins it in 0.55 ms (0.9 to 2.5 ms). Blocks can thus be filled before a context exists, and pinned when
// needed. Thread-safe.
class PinnedMemory final : public std::pmr::memory_resource {
 public:
  enum class When { at_once, on_demand };

  // at_once: allocate() pins; on_demand: pin() does. Keeps at most `idle_bytes` of freed blocks.
  explicit PinnedMemory(When when, std::size_t idle_bytes = std::numeric_limits<std::size_t>::max())
      : when_(when), idle_limit_(idle_bytes) {}
  // All blocks must have been freed.
  ~PinnedMemory() override;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  // Sets the device whose context unpins surplus blocks. The thread that frees them may have no context, and
  // would create one on device 0.
  void use_device(int device) noexcept { device_ = device; }

  // Pins the block that begins at `block`, for every device, in the context of the calling thread. Does
  // nothing if it is pinned already or not from this pool. If no more memory can be pinned, unpins idle
  // blocks and retries; after that the block stays unpinned, which only makes copies slower, and a warning is
  // recorded (take_device_warnings()). Throws Error(device).
  void pin(const void* block);

  // Unpins and unmaps all idle blocks.
  void release_idle();

 private:
  struct Block {
    std::size_t bytes = 0;
    bool pinned = false;
  };

  void unmap(const void* block, const Block& about) const;
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::atomic<int> device_{0};
  When when_;
  std::size_t idle_limit_;
  std::mutex mutex_;
  std::size_t idle_bytes_ = 0;
  std::map<const void*, Block> blocks_;                              // all, by address
  std::map<std::pair<std::size_t, bool>, std::vector<void*>> idle_;  // by size and whether pinned
};

}  // namespace imgpipe
