// Large memory blocks: allocation and reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace imgpipe {

// Allocates every block of at least kMinBytes that `new` returns in this program, each as a separate
// mapping. Keeps freed blocks for requests of about the same size, because the kernel faults in every page of
// a new mapping (40 JPEGs of 2 to 8 MP, 2-core Xeon, 2026-11-21: 47,000 page faults without the pool, 7,400
// with it). Kept memory stays within an exact limit; with malloc, one small live block pins all free memory
// below it. Sanitizers track the edges of blocks, so `new` does not use the pool under them. Thread-safe.
class BlockPool {
 public:
  static constexpr std::size_t kMinBytes = std::size_t{64} << 10;
  static constexpr std::size_t kPageBytes = std::size_t{4} << 10;
  // Without set_limit(), blocks are kept up to these bytes, or up to the peak use if that is more: a large
  // image reuses the blocks of its bands, and the pool never holds more than the image needed at its peak.
  static constexpr std::int64_t kDefaultKeptBytes = std::int64_t{32} << 20;
  static constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;
  // Blocks of at least this size use huge pages, which need fewer page faults and address translations, if
  // enough of them are free. IMGPIPE_HUGE_PAGES=0 turns them off.
  static constexpr std::size_t kHugeBlockBytes = std::size_t{4} << 20;

  BlockPool() noexcept = default;
  // Frees the kept blocks; blocks in use stay valid.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Returns a block aligned to kPageBytes, not initialised; nullptr if memory is exhausted.
  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  // Returns false if the block does not come from the pool.
  [[nodiscard]] bool give_back(void* block) noexcept;

  // Limits the blocks in use and kept together to `bytes`, and to the peak use from now on plus an eighth and
  // 4 MiB (a half instead of an eighth while the peak is small). Blocks in use may exceed the limit. kNoLimit
  // restores the default.
  void set_limit(std::int64_t bytes) noexcept;
  // Reserves `bytes` of the limit for memory allocated elsewhere, by libraries that use malloc.
  void set_outside(std::int64_t bytes) noexcept;

  struct Use {
    std::int64_t in_use = 0, kept = 0;  // bytes
    std::int64_t peak = 0;              // most bytes requested at one time since set_limit()
    std::int64_t limit = 0, outside = 0;
  };
  [[nodiscard]] Use use() const noexcept;

  // For the handlers of pthread_atfork(3): a forked process may use the pool even if another thread was in
  // it.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  struct Block {
    void* start = nullptr;
    std::size_t bytes = 0;
  };
  // Allocates the pool's own lists with malloc; `new` would call the pool.
  template <class T>
  struct MallocAllocator {
    using value_type = T;
    MallocAllocator() = default;
    template <class Other>
    MallocAllocator(const MallocAllocator<Other>&) noexcept {}
    [[nodiscard]] T* allocate(std::size_t count) {
      if (void* const memory = std::malloc(count * sizeof(T))) return static_cast<T*>(memory);
      throw std::bad_alloc();
    }
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
    bool operator==(const MallocAllocator&) const = default;
  };
  template <class Key, class Value>
  using MallocPairAllocator = MallocAllocator<std::pair<const Key, Value>>;
  struct BlockInUse {
    std::size_t bytes = 0;
    std::size_t spare = 0;  // bytes beyond the requested ones, included in `bytes`
  };
  using InUse = std::map<const void*, BlockInUse, std::less<>,
                         MallocPairAllocator<const void*, BlockInUse>>;  // by address
  using Kept =
      std::multimap<std::size_t, void*, std::less<>, MallocPairAllocator<std::size_t, void*>>;  // by size

  // The caller holds mutex_.
  [[nodiscard]] std::int64_t capacity() const noexcept;
  [[nodiscard]] bool plenty() const noexcept;
  [[nodiscard]] std::int64_t limit() const noexcept {
    return limit_bytes_ == kNoLimit ? kDefaultKeptBytes : limit_bytes_;
  }
  [[nodiscard]] Block take_cached(std::size_t bytes) noexcept;
  Block remove_cached(Kept::iterator at) noexcept;
  // The caller does not hold mutex_.
  void drop_cached_beyond(std::int64_t bytes) noexcept;
  void drop_surplus() noexcept;

  mutable std::mutex mutex_;
  InUse in_use_;
  Kept kept_;
  std::int64_t in_use_bytes_ = 0, kept_bytes_ = 0;
  std::int64_t spare_bytes_ = 0;  // the sum of BlockInUse::spare
  std::int64_t peak_bytes_ = 0;   // the peak of in_use_bytes_ - spare_bytes_
  std::int64_t limit_bytes_ = kNoLimit, outside_bytes_ = 0;
};

// Whether the environment allows huge pages and the kernel has free ones for `bytes`. Otherwise a page fault
// would move other pages to make a huge one, which can take longer than huge pages save.
[[nodiscard]] bool has_huge_pages(std::size_t bytes) noexcept;
// Returns the free bytes in blocks of at least 2 MiB, from the text of /proc/buddyinfo (pages of 4 KiB).
[[nodiscard]] std::int64_t free_huge_bytes(std::string_view buddyinfo) noexcept;

// The pool that `new` uses. It is never destroyed.
[[nodiscard]] BlockPool& block_pool() noexcept;

// Limits the pool of `new` to `bytes`; the destructor restores the previous limits. Limits must nest.
class BlockPoolLimit {
 public:
  explicit BlockPoolLimit(std::int64_t bytes) noexcept : before_(block_pool().use()) {
    block_pool().set_limit(bytes);
  }
  ~BlockPoolLimit() {
    block_pool().set_outside(before_.outside);
    block_pool().set_limit(before_.limit);
  }
  BlockPoolLimit(const BlockPoolLimit&) = delete;
  BlockPoolLimit& operator=(const BlockPoolLimit&) = delete;

 private:
  const BlockPool::Use before_;
};

}  // namespace imgpipe
