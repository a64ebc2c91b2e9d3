// Memory that its owner keeps between uses, independently of `new` (images/memory/block_pool.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "images/memory/block_pool.h"

namespace imgpipe {

// The largest number of bytes that an engine keeps between two images.
inline constexpr std::int64_t kKeptBytes = std::int64_t{64} << 20;

// Keeps freed blocks for later requests, up to `limit` bytes of blocks in use and kept. Thread-safe. Must
// outlive its blocks. Under sanitizers, which check the bounds of blocks, it uses `new` and keeps nothing.
class KeptMemory final : public std::pmr::memory_resource {
 public:
  explicit KeptMemory(std::int64_t limit = kKeptBytes) : limit_(limit) { pool_.set_limit(limit); }

  [[nodiscard]] std::int64_t kept_bytes() const noexcept { return pool_.use().kept; }
  // Frees the kept blocks.
  void trim() noexcept;
  // As in BlockPool.
  void before_fork() { pool_.before_fork(); }
  void after_fork() { pool_.after_fork(); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  BlockPool pool_;
  const std::int64_t limit_;
};

}  // namespace imgpipe
