// Where large blocks of memory come from, and what is kept of them for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace imgpipe {

// Every block of at least kLeastBytes that `new` gives in this program (pixels, rows, files) is a mapping of
// its own. One that comes back is kept for the next of about its size, because each page of a new one is
// provided anew: 40 JPEGs of 2 to 8 MP, 2-core Xeon, 2026-11-21: 47,000 page faults without, 7,400 with all
// kept. What is kept stays within a limit, to the page. malloc cannot promise that: one small block in use
// keeps all the free memory below it. Under a sanitizer, which knows blocks by their edges,
// `new` stays its own. Thread-safe.
class BlockPool {
 public:
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 10;
  static constexpr std::size_t kPageBytes = std::size_t{4} << 10;
  // What may be kept beside blocks in use where nobody has said anything.
  static constexpr std::int64_t kUsualBytes = std::int64_t{32} << 20;

  BlockPool() = default;
  // What is in use stays with who has it.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // On a boundary of kPageBytes, not initialised. nullptr where there is no memory.
  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  // False for what is none of the pool's.
  [[nodiscard]] bool give_back(void* block) noexcept;

  // Blocks in use and kept ones together stay within `bytes`, and within an eighth more than were in use at
  // one time from now on, or half as much again where that is far below `bytes`; in use there can be more.
  void keep_within(std::int64_t bytes) noexcept;
  // So many bytes of that are, or will be, taken from elsewhere: by libraries that use malloc.
  void set_outside(std::int64_t bytes) noexcept;

  struct Use {
    std::int64_t in_use = 0, kept = 0;  // bytes
    std::int64_t peak = 0;              // of what was asked for at one time, since keep_within()
    std::int64_t limit = 0, outside = 0;
  };
  [[nodiscard]] Use use() const noexcept;

 private:
  struct Block {
    void* start = nullptr;
    std::size_t bytes = 0;
  };
  // For the pool's own lists: `new` would ask the pool.
  template <class T>
  struct OfMalloc {
    using value_type = T;
    OfMalloc() = default;
    template <class Other>
    OfMalloc(const OfMalloc<Other>&) noexcept {}
    [[nodiscard]] T* allocate(std::size_t count) {
      if (void* const memory = std::malloc(count * sizeof(T))) return static_cast<T*>(memory);
      throw std::bad_alloc();
    }
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
    bool operator==(const OfMalloc&) const = default;
  };
  template <class Key, class Value>
  using PairOfMalloc = OfMalloc<std::pair<const Key, Value>>;
  struct Taken {
    std::size_t bytes = 0;
    std::size_t spare = 0;  // of them: more than was asked for
  };
  using InUse = std::map<const void*, Taken, std::less<>, PairOfMalloc<const void*, Taken>>;  // by address
  using Kept = std::multimap<std::size_t, void*, std::less<>, PairOfMalloc<std::size_t, void*>>;  // by size

  // Under mutex_.
  [[nodiscard]] std::int64_t room() const noexcept;
  [[nodiscard]] bool plenty() const noexcept;
  [[nodiscard]] Block take_kept(std::size_t bytes) noexcept;
  Block remove_kept(Kept::iterator at) noexcept;
  // Without it.
  void drop_kept_beyond(std::int64_t bytes) noexcept;
  void drop_surplus() noexcept;

  mutable std::mutex mutex_;
  InUse in_use_;
  Kept kept_;
  std::int64_t in_use_bytes_ = 0, kept_bytes_ = 0;
  std::int64_t spare_bytes_ = 0;  // of those in use
  std::int64_t peak_bytes_ = 0;   // of those in use less the spare ones
  std::int64_t limit_bytes_ = kUsualBytes, outside_bytes_ = 0;
};

// The one that `new` takes from. It is never destroyed.
[[nodiscard]] BlockPool& block_pool() noexcept;

// Limits the pool of `new` to `bytes`; the destructor restores the limits. A limit that is set while another
// holds ends before it.
class BlockPoolLimit {
 public:
  explicit BlockPoolLimit(std::int64_t bytes) noexcept : before_(block_pool().use()) {
    block_pool().keep_within(bytes);
  }
  ~BlockPoolLimit() {
    block_pool().set_outside(before_.outside);
    block_pool().keep_within(before_.limit);
  }
  BlockPoolLimit(const BlockPoolLimit&) = delete;
  BlockPoolLimit& operator=(const BlockPoolLimit&) = delete;

 private:
  const BlockPool::Use before_;
};

}  // namespace imgpipe
