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

// Blocks that come back are kept for later requests of about their size, because making one costs more than
// using it: of 27 MB on an H200's host (2026-11-21, Linux 6.18) cudaHostAlloc took 6.5 to 12 ms. Blocks are
// ordinary memory in huge pages, 3.1 ms to touch (11 to 12 ms in small pages), which cudaHostRegister then
// pins in 0.55 ms (0.9 to 2.5). So memory can be filled before there is a context, and is pinned when it is
// needed. Thread-safe.
class PinnedMemory final : public std::pmr::memory_resource {
 public:
  enum class When { at_once, on_demand };

  // `at_once`: allocate() pins; on_demand: pin() does. Of what comes back, at most
  // `idle_bytes` are kept.
  explicit PinnedMemory(When when, std::size_t idle_bytes = std::numeric_limits<std::size_t>::max())
      : when_(when), idle_limit_(idle_bytes) {}
  // Everything must have come back.
  ~PinnedMemory() override;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  // In whose context blocks that are not kept are unpinned: the thread that gives them back may have none,
  // and would make one on device 0.
  void use_device(int device) noexcept { device_ = device; }

  // Pins the block that begins at `block`, for every device, in the context of the calling thread; unless it
  // is pinned already or is none of this pool. Where no more memory can be pinned, idle blocks give theirs
  // back; if that is not enough, the block stays as it is, which copies accept, and a warning is noted
  // (take_device_warnings()). Throws Error(device).
  void pin(const void* block);

 private:
  struct Block {
    std::size_t bytes = 0;
    bool pinned = false;
  };

  void unmap(const void* block, const Block& about) const;
  void unmap_idle_pinned();
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
  std::map<const void*, Block> blocks_;                              // all
  std::map<std::pair<std::size_t, bool>, std::vector<void*>> idle_;  // by size, and pinned or not
};

}  // namespace imgpipe
